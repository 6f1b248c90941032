-- Triggers of source tables.

-- name: create_insert
CREATE TRIGGER {trigger} AFTER INSERT ON {source}
FOR EACH ROW EXECUTE FUNCTION rag.capture({id})

-- name: create_update
-- Rows are compared as stored, which works for any type.
CREATE TRIGGER {trigger} AFTER UPDATE ON {source}
FOR EACH ROW
WHEN (pg_catalog.record_image_ne({old_row}, {new_row}))
EXECUTE FUNCTION rag.capture({id})

-- name: create_delete
CREATE TRIGGER {trigger} AFTER DELETE ON {source}
FOR EACH ROW EXECUTE FUNCTION rag.capture({id})

-- name: create_truncate
CREATE TRIGGER {trigger} AFTER TRUNCATE ON {source}
FOR EACH STATEMENT EXECUTE FUNCTION rag.capture({id})

-- name: create_statement
CREATE TRIGGER {trigger} AFTER INSERT OR UPDATE OR DELETE ON {source}
FOR EACH STATEMENT EXECUTE FUNCTION rag.capture({id})

-- name: enable_always
-- Also for what logical replication applies.
ALTER TABLE {source} ENABLE ALWAYS TRIGGER {trigger}

-- name: drop
DROP TRIGGER IF EXISTS {trigger} ON {source}

-- name: taken
-- $1: name of a trigger, $2: argument of a pipeline's triggers, $3: its source. A trigger that has this name
-- and is another's; partitions get triggers of their parents, so that two pipelines may meet in one table.
SELECT FROM pg_catalog.pg_trigger AS g
WHERE g.tgname OPERATOR(pg_catalog.=) $1::pg_catalog.name
  AND (g.tgfoid OPERATOR(pg_catalog.=) 'rag.capture'::pg_catalog.regproc OR g.tgrelid OPERATOR(pg_catalog.=) $3)
  AND NOT (g.tgfoid OPERATOR(pg_catalog.=) 'rag.capture'::pg_catalog.regproc
           AND pg_catalog.encode(g.tgargs, 'escape') OPERATOR(pg_catalog.=) $2)

-- name: of
-- $1: argument of a pipeline's triggers, $2: kind of trigger. Those, and the tables that have them and did
-- not get them from another table.
SELECT pg_catalog.quote_ident(g.tgname), pg_catalog.quote_ident(n.nspname) OPERATOR(pg_catalog.||) '.' OPERATOR(pg_catalog.||) pg_catalog.quote_ident(c.relname)
FROM pg_catalog.pg_trigger AS g
JOIN pg_catalog.pg_class AS c ON c.oid OPERATOR(pg_catalog.=) g.tgrelid
JOIN pg_catalog.pg_namespace AS n ON n.oid OPERATOR(pg_catalog.=) c.relnamespace
WHERE g.tgtype OPERATOR(pg_catalog.=) $2 AND g.tgparentid OPERATOR(pg_catalog.=) 0
  AND g.tgfoid OPERATOR(pg_catalog.=) 'rag.capture'::pg_catalog.regproc
  AND pg_catalog.encode(g.tgargs, 'escape') OPERATOR(pg_catalog.=) $1

-- name: strays
-- $1: a source, $2: argument of the triggers that its new pipeline is to get. Triggers of the source and of its partitions
-- that are of no pipeline there is of their table, and the tables that have them and did not get them from another.
WITH RECURSIVE t (relid) AS (
    SELECT $1::pg_catalog.oid
    UNION ALL
    SELECT i.inhrelid FROM t
    JOIN pg_catalog.pg_inherits AS i ON i.inhparent OPERATOR(pg_catalog.=) t.relid
    JOIN pg_catalog.pg_class AS c ON c.oid OPERATOR(pg_catalog.=) i.inhrelid AND c.relispartition
)
SELECT pg_catalog.quote_ident(g.tgname), pg_catalog.quote_ident(n.nspname) OPERATOR(pg_catalog.||) '.' OPERATOR(pg_catalog.||) pg_catalog.quote_ident(c.relname)
FROM t
JOIN pg_catalog.pg_trigger AS g ON g.tgrelid OPERATOR(pg_catalog.=) t.relid AND g.tgparentid OPERATOR(pg_catalog.=) 0
    AND g.tgfoid OPERATOR(pg_catalog.=) 'rag.capture'::pg_catalog.regproc
JOIN pg_catalog.pg_class AS c ON c.oid OPERATOR(pg_catalog.=) g.tgrelid
JOIN pg_catalog.pg_namespace AS n ON n.oid OPERATOR(pg_catalog.=) c.relnamespace
WHERE pg_catalog.encode(g.tgargs, 'escape') OPERATOR(pg_catalog.=) $2
   OR NOT EXISTS (SELECT FROM rag.pipeline AS p
                  WHERE pg_catalog.encode(g.tgargs, 'escape') OPERATOR(pg_catalog.=) pg_catalog.format(E'%s\\000', p.id)
                    AND (p.source::pg_catalog.oid OPERATOR(pg_catalog.=) g.tgrelid
                         OR EXISTS (SELECT FROM pg_catalog.pg_partition_ancestors(g.tgrelid) AS a
                                    WHERE a.relid::pg_catalog.oid OPERATOR(pg_catalog.=) p.source::pg_catalog.oid)))
ORDER BY t.relid, g.tgname

-- name: drops
-- $1: a table, $2: argument of a pipeline's triggers. What drops those of them that fire for the table.
SELECT pg_catalog.concat('DROP TRIGGER ', pg_catalog.quote_ident(g.tgname), ' ON ', g.tgrelid::pg_catalog.regclass)
FROM pg_catalog.pg_trigger AS g
WHERE g.tgparentid OPERATOR(pg_catalog.=) 0
  AND (g.tgrelid OPERATOR(pg_catalog.=) $1
       OR EXISTS (SELECT FROM pg_catalog.pg_partition_ancestors($1::pg_catalog.oid::pg_catalog.regclass) AS a
                  WHERE a.relid::pg_catalog.oid OPERATOR(pg_catalog.=) g.tgrelid))
  AND g.tgfoid OPERATOR(pg_catalog.=) 'rag.capture'::pg_catalog.regproc
  AND pg_catalog.encode(g.tgargs, 'escape') OPERATOR(pg_catalog.=) $2
ORDER BY g.tgrelid, g.tgname

-- name: outside
-- $1: a source, $2: argument of a pipeline's triggers, $3: kind of trigger. Those, and the tables that have
-- them and are no part of the source any more. No part is locked: others may be altering them.
WITH RECURSIVE t (relid) AS (
    SELECT i.inhrelid FROM pg_catalog.pg_inherits AS i WHERE i.inhparent = $1
    UNION ALL
    SELECT i.inhrelid FROM t JOIN pg_catalog.pg_inherits AS i ON i.inhparent = t.relid
)
SELECT pg_catalog.quote_ident(g.tgname), pg_catalog.quote_ident(n.nspname) || '.' || pg_catalog.quote_ident(c.relname)
FROM pg_catalog.pg_trigger AS g
JOIN pg_catalog.pg_class AS c ON c.oid = g.tgrelid
JOIN pg_catalog.pg_namespace AS n ON n.oid = c.relnamespace
WHERE g.tgtype = $3 AND g.tgparentid = 0 AND g.tgfoid = 'rag.capture'::regproc AND g.tgrelid <> $1
  AND pg_catalog.encode(g.tgargs, 'escape') = $2
  AND NOT EXISTS (SELECT FROM t WHERE t.relid = g.tgrelid)

-- name: partitions_without
-- $1: a source, $2: argument of a pipeline's triggers, $3: kind of trigger. Partitions that don't have one,
-- at any depth. None of them is locked: others may be altering them.
WITH RECURSIVE t (relid) AS (
    SELECT i.inhrelid FROM pg_catalog.pg_inherits AS i WHERE i.inhparent OPERATOR(pg_catalog.=) $1
    UNION ALL
    SELECT i.inhrelid FROM t JOIN pg_catalog.pg_inherits AS i ON i.inhparent OPERATOR(pg_catalog.=) t.relid
)
SELECT pg_catalog.quote_ident(n.nspname) OPERATOR(pg_catalog.||) '.' OPERATOR(pg_catalog.||) pg_catalog.quote_ident(c.relname)
FROM t
JOIN pg_catalog.pg_class AS c ON c.oid OPERATOR(pg_catalog.=) t.relid AND c.relispartition
JOIN pg_catalog.pg_namespace AS n ON n.oid OPERATOR(pg_catalog.=) c.relnamespace
WHERE NOT EXISTS (SELECT FROM pg_catalog.pg_trigger AS g
                  WHERE g.tgrelid OPERATOR(pg_catalog.=) t.relid AND g.tgtype OPERATOR(pg_catalog.=) $3
                    AND g.tgfoid OPERATOR(pg_catalog.=) 'rag.capture'::pg_catalog.regproc
                    AND pg_catalog.encode(g.tgargs, 'escape') OPERATOR(pg_catalog.=) $2)
