-- Which version of pg_rag there is, and whether its functions are found by their names from now on: the schema
-- that it was created in comes last, so that nothing else is found otherwise than before.
SELECT e.extversion,
       pg_catalog.set_config('search_path', pg_catalog.concat_ws(', ',
           NULLIF(pg_catalog.current_setting('search_path'), ''), pg_catalog.quote_ident(n.nspname)), false)
FROM pg_catalog.pg_extension AS e
JOIN pg_catalog.pg_namespace AS n ON n.oid = e.extnamespace
WHERE e.extname = 'pg_rag'
