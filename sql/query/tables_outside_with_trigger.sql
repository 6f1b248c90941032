-- $1: a source, $2: name of a trigger of ours. Tables that have it and are no part of the source any more.
SELECT pg_catalog.quote_ident(n.nspname) || '.' || pg_catalog.quote_ident(c.relname)
FROM pg_catalog.pg_trigger AS g
JOIN pg_catalog.pg_class AS c ON c.oid = g.tgrelid
JOIN pg_catalog.pg_namespace AS n ON n.oid = c.relnamespace
WHERE g.tgname = $2 AND g.tgparentid = 0 AND g.tgfoid = 'rag.capture'::regproc AND g.tgrelid <> $1
  AND g.tgrelid NOT IN (SELECT t.relid FROM pg_catalog.pg_partition_tree($1::oid::regclass) AS t)
