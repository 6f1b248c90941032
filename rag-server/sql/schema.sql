-- The relations that the role may read, with their columns. $1: names of relations, or NULL for all.
SELECT c.oid::pg_catalog.regclass::pg_catalog.text AS relation, pg_catalog.obj_description(c.oid, 'pg_class') AS about,
       pg_catalog.string_agg(a.attname::pg_catalog.text OPERATOR(pg_catalog.||) ' ' OPERATOR(pg_catalog.||) pg_catalog.format_type(a.atttypid, a.atttypmod)
           OPERATOR(pg_catalog.||) COALESCE(' -- ' OPERATOR(pg_catalog.||) pg_catalog.col_description(c.oid, a.attnum), ''), E'\n' ORDER BY a.attnum) AS columns
FROM pg_catalog.pg_class AS c
JOIN pg_catalog.pg_namespace AS n ON n.oid = c.relnamespace
JOIN pg_catalog.pg_attribute AS a ON a.attrelid = c.oid AND a.attnum > 0 AND NOT a.attisdropped
WHERE c.relkind IN ('r', 'p', 'v', 'm', 'f')
  AND NOT c.relispartition
  AND n.nspname NOT IN ('pg_catalog', 'information_schema', 'rag') AND n.nspname NOT LIKE 'pg\_toast%' AND n.nspname NOT LIKE 'pg\_temp%'
  AND pg_catalog.has_schema_privilege(n.oid, 'USAGE')
  AND pg_catalog.has_column_privilege(c.oid, a.attnum, 'SELECT')
  AND NOT EXISTS (SELECT FROM rag.pipeline AS p WHERE c.oid IN (p.content_view, p.chunk_table))
  AND ($1 IS NULL OR c.relname = ANY ($1) OR n.nspname::pg_catalog.text OPERATOR(pg_catalog.||) '.' OPERATOR(pg_catalog.||) c.relname::pg_catalog.text = ANY ($1))
GROUP BY c.oid, n.nspname, c.relname
ORDER BY n.nspname, c.relname
