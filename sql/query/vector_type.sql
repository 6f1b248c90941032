SELECT t.oid
FROM pg_catalog.pg_extension e
JOIN pg_catalog.pg_type t ON t.typnamespace OPERATOR(pg_catalog.=) e.extnamespace AND t.typname OPERATOR(pg_catalog.=) 'vector'
WHERE e.extname OPERATOR(pg_catalog.=) 'vector'
