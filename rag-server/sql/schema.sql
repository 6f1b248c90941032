-- The relations that the role may read, with their columns and the names by which they may be asked for. $1: such names, or
-- NULL for all relations.
--
-- A database may have thousands of them. So privileges are looked up once for a relation, and those of columns only where
-- the role may not read all of it; comments are joined, since the functions for them run a query each; and columns are
-- looked up relation by relation, by the indexes of the catalog, however wrong the estimate of their number is.
WITH hidden AS (
    SELECT h.relation
    FROM rag.pipeline AS p
    CROSS JOIN LATERAL (VALUES (p.content_view::pg_catalog.oid), (p.chunk_table::pg_catalog.oid)) AS h (relation)
), readable AS MATERIALIZED (
    SELECT c.oid, n.nspname, c.relname, s.names, w.is_whole
    FROM pg_catalog.pg_namespace AS n
    JOIN pg_catalog.pg_class AS c ON c.relnamespace OPERATOR(pg_catalog.=) n.oid
    CROSS JOIN LATERAL (
        SELECT ARRAY[c.relname::pg_catalog.text, n.nspname::pg_catalog.text OPERATOR(pg_catalog.||) '.' OPERATOR(pg_catalog.||) c.relname::pg_catalog.text,
                     pg_catalog.quote_ident(c.relname::pg_catalog.text), pg_catalog.quote_ident(n.nspname::pg_catalog.text) OPERATOR(pg_catalog.||) '.' OPERATOR(pg_catalog.||) pg_catalog.quote_ident(c.relname::pg_catalog.text)] AS names) AS s
    CROSS JOIN LATERAL (SELECT pg_catalog.has_table_privilege(c.oid, 'SELECT') AS is_whole) AS w
    WHERE c.relkind OPERATOR(pg_catalog.=) ANY (ARRAY['r', 'p', 'v', 'm', 'f']::pg_catalog."char"[])
      AND NOT c.relispartition
      AND n.nspname OPERATOR(pg_catalog.<>) ALL (ARRAY['pg_catalog', 'information_schema', 'rag']::pg_catalog.name[])
      AND n.nspname OPERATOR(pg_catalog.!~) '^pg_(toast|temp)'
      AND ($1 IS NULL OR s.names OPERATOR(pg_catalog.&&) $1)
      AND pg_catalog.has_schema_privilege(n.oid, 'USAGE')
      AND (w.is_whole OR pg_catalog.has_any_column_privilege(c.oid, 'SELECT'))
      AND NOT EXISTS (SELECT FROM hidden AS h WHERE h.relation OPERATOR(pg_catalog.=) c.oid)
)
SELECT r.oid::pg_catalog.regclass::pg_catalog.text AS relation, d.description AS about, c.columns, r.names
FROM readable AS r
CROSS JOIN LATERAL (
    SELECT pg_catalog.string_agg(a.attname::pg_catalog.text OPERATOR(pg_catalog.||) ' ' OPERATOR(pg_catalog.||) pg_catalog.format_type(a.atttypid, a.atttypmod)
               OPERATOR(pg_catalog.||) COALESCE(' -- ' OPERATOR(pg_catalog.||) d.description, ''), E'\n' ORDER BY a.attnum) AS columns
    FROM pg_catalog.pg_attribute AS a
    LEFT JOIN pg_catalog.pg_description AS d
      ON d.objoid OPERATOR(pg_catalog.=) r.oid AND d.classoid OPERATOR(pg_catalog.=) 'pg_catalog.pg_class'::pg_catalog.regclass::pg_catalog.oid
     AND d.objsubid OPERATOR(pg_catalog.=) a.attnum
    WHERE a.attrelid OPERATOR(pg_catalog.=) r.oid AND a.attnum OPERATOR(pg_catalog.>) 0::pg_catalog.int2 AND NOT a.attisdropped
      AND (r.is_whole OR pg_catalog.has_column_privilege(r.oid, a.attnum, 'SELECT'))) AS c
LEFT JOIN pg_catalog.pg_description AS d
  ON d.objoid OPERATOR(pg_catalog.=) r.oid AND d.classoid OPERATOR(pg_catalog.=) 'pg_catalog.pg_class'::pg_catalog.regclass::pg_catalog.oid
 AND d.objsubid OPERATOR(pg_catalog.=) 0
WHERE c.columns IS NOT NULL
ORDER BY r.nspname, r.relname
