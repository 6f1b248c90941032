SELECT t.oid
FROM pg_catalog.pg_extension e
JOIN pg_catalog.pg_type t ON t.typnamespace = e.extnamespace AND t.typname = 'vector'
WHERE e.extname = 'vector'
