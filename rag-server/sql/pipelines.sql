-- The pipelines that the role sees. Columns for filters are those of the view that stand between the columns that each
-- view has: behind token_count and before embedding.
SELECT p.name, p.source::pg_catalog.text AS source,
       COALESCE(p.description, pg_catalog.obj_description(p.source, 'pg_class')) AS description, p.model,
       pg_catalog.date_part('epoch', p.created_at)::pg_catalog.int8 AS created,
       ARRAY(SELECT a.attname::pg_catalog.text
             FROM pg_catalog.pg_attribute AS t
             JOIN pg_catalog.pg_attribute AS e ON e.attrelid OPERATOR(pg_catalog.=) t.attrelid AND e.attname OPERATOR(pg_catalog.=) 'embedding'
             JOIN pg_catalog.pg_attribute AS a
               ON a.attrelid OPERATOR(pg_catalog.=) t.attrelid AND NOT a.attisdropped
              AND a.attnum OPERATOR(pg_catalog.>) t.attnum AND a.attnum OPERATOR(pg_catalog.<) e.attnum
             WHERE t.attrelid OPERATOR(pg_catalog.=) p.view::pg_catalog.oid AND t.attname OPERATOR(pg_catalog.=) 'token_count'
             ORDER BY a.attnum) AS filters
FROM rag.pipeline AS p
WHERE p.name IS NOT NULL
ORDER BY p.name
