-- $1: a source, $2: name of a trigger of ours. Tables that have it and are no part of the source any
-- more. No part is locked: others may be altering them.
WITH RECURSIVE t (relid) AS (
    SELECT i.inhrelid FROM pg_catalog.pg_inherits AS i WHERE i.inhparent = $1
    UNION ALL
    SELECT i.inhrelid FROM t JOIN pg_catalog.pg_inherits AS i ON i.inhparent = t.relid
)
SELECT pg_catalog.quote_ident(n.nspname) || '.' || pg_catalog.quote_ident(c.relname)
FROM pg_catalog.pg_trigger AS g
JOIN pg_catalog.pg_class AS c ON c.oid = g.tgrelid
JOIN pg_catalog.pg_namespace AS n ON n.oid = c.relnamespace
WHERE g.tgname = $2 AND g.tgparentid = 0 AND g.tgfoid = 'rag.capture'::regproc AND g.tgrelid <> $1
  AND NOT EXISTS (SELECT FROM t WHERE t.relid = g.tgrelid)
