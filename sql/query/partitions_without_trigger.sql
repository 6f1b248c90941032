-- $1: a source, $2: name of a trigger. Partitions that don't have it, at any depth. None of them is
-- locked: others may be altering them.
WITH RECURSIVE t (relid) AS (
    SELECT i.inhrelid FROM pg_catalog.pg_inherits AS i WHERE i.inhparent OPERATOR(pg_catalog.=) $1
    UNION ALL
    SELECT i.inhrelid FROM t JOIN pg_catalog.pg_inherits AS i ON i.inhparent OPERATOR(pg_catalog.=) t.relid
)
SELECT pg_catalog.quote_ident(n.nspname) OPERATOR(pg_catalog.||) '.' OPERATOR(pg_catalog.||) pg_catalog.quote_ident(c.relname)
FROM t
JOIN pg_catalog.pg_class AS c ON c.oid OPERATOR(pg_catalog.=) t.relid AND c.relispartition
JOIN pg_catalog.pg_namespace AS n ON n.oid OPERATOR(pg_catalog.=) c.relnamespace
WHERE NOT EXISTS (SELECT FROM pg_catalog.pg_trigger AS g WHERE g.tgrelid OPERATOR(pg_catalog.=) t.relid AND g.tgname OPERATOR(pg_catalog.=) $2)
