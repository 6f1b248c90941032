-- $1: a source, $2: name of a trigger. Partitions that don't have it, at any depth.
SELECT pg_catalog.quote_ident(n.nspname) || '.' || pg_catalog.quote_ident(c.relname)
FROM pg_catalog.pg_partition_tree($1::oid::regclass) AS t
JOIN pg_catalog.pg_class AS c ON c.oid = t.relid
JOIN pg_catalog.pg_namespace AS n ON n.oid = c.relnamespace
WHERE t.level > 0
  AND NOT EXISTS (SELECT FROM pg_catalog.pg_trigger AS g WHERE g.tgrelid = t.relid AND g.tgname = $2)
