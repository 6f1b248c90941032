-- Which version of pg_rag there is, and its functions are found by their names from now on: pg_catalog and the schema that
-- it was created in come first, so that nobody who may create in a later schema puts functions of their own before them.
SELECT e.extversion,
       pg_catalog.set_config('search_path', pg_catalog.concat_ws(', ', 'pg_catalog', pg_catalog.quote_ident(n.nspname),
           CASE WHEN pg_catalog.current_setting('search_path') OPERATOR(pg_catalog.<>) ''
               THEN pg_catalog.current_setting('search_path') END), false)
FROM pg_catalog.pg_extension AS e
JOIN pg_catalog.pg_namespace AS n ON n.oid OPERATOR(pg_catalog.=) e.extnamespace
WHERE e.extname OPERATOR(pg_catalog.=) 'pg_rag'
