-- The relations that the role may read, with their columns and the names by which they may be asked for. $1: such names, or
-- NULL for all relations.
SELECT c.oid::pg_catalog.regclass::pg_catalog.text AS relation, pg_catalog.obj_description(c.oid, 'pg_class') AS about,
       pg_catalog.string_agg(a.attname::pg_catalog.text OPERATOR(pg_catalog.||) ' ' OPERATOR(pg_catalog.||) pg_catalog.format_type(a.atttypid, a.atttypmod)
           OPERATOR(pg_catalog.||) COALESCE(' -- ' OPERATOR(pg_catalog.||) pg_catalog.col_description(c.oid, a.attnum), ''), E'\n' ORDER BY a.attnum) AS columns,
       s.names
FROM pg_catalog.pg_class AS c
JOIN pg_catalog.pg_namespace AS n ON n.oid OPERATOR(pg_catalog.=) c.relnamespace
JOIN pg_catalog.pg_attribute AS a ON a.attrelid OPERATOR(pg_catalog.=) c.oid AND a.attnum OPERATOR(pg_catalog.>) 0::pg_catalog.int2 AND NOT a.attisdropped
CROSS JOIN LATERAL (
    SELECT ARRAY[c.oid::pg_catalog.regclass::pg_catalog.text,
                 c.relname::pg_catalog.text, n.nspname::pg_catalog.text OPERATOR(pg_catalog.||) '.' OPERATOR(pg_catalog.||) c.relname::pg_catalog.text,
                 pg_catalog.quote_ident(c.relname::pg_catalog.text), pg_catalog.quote_ident(n.nspname::pg_catalog.text) OPERATOR(pg_catalog.||) '.' OPERATOR(pg_catalog.||) pg_catalog.quote_ident(c.relname::pg_catalog.text)] AS names) AS s
WHERE c.relkind OPERATOR(pg_catalog.=) ANY (ARRAY['r', 'p', 'v', 'm', 'f']::pg_catalog."char"[])
  AND NOT c.relispartition
  AND n.nspname OPERATOR(pg_catalog.<>) ALL (ARRAY['pg_catalog', 'information_schema', 'rag']::pg_catalog.name[])
  AND n.nspname OPERATOR(pg_catalog.!~) '^pg_(toast|temp)'
  AND pg_catalog.has_schema_privilege(n.oid, 'USAGE')
  AND pg_catalog.has_column_privilege(c.oid, a.attnum, 'SELECT')
  AND NOT EXISTS (SELECT FROM rag.pipeline AS p WHERE c.oid OPERATOR(pg_catalog.=) ANY (ARRAY[p.content_view, p.chunk_table]::pg_catalog.oid[]))
  AND ($1 IS NULL OR s.names OPERATOR(pg_catalog.&&) $1)
GROUP BY c.oid, n.nspname, c.relname, s.names
ORDER BY n.nspname, c.relname
