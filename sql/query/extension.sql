-- Where the extension and its types are.

-- name: schema
SELECT pg_catalog.quote_ident(n.nspname)
FROM pg_catalog.pg_extension e
JOIN pg_catalog.pg_namespace n ON n.oid OPERATOR(pg_catalog.=) e.extnamespace
WHERE e.extname OPERATOR(pg_catalog.=) 'pg_rag'

-- name: opclass_schema
SELECT pg_catalog.quote_ident(n.nspname)
FROM pg_catalog.pg_opclass c
JOIN pg_catalog.pg_am a ON a.oid OPERATOR(pg_catalog.=) c.opcmethod
JOIN pg_catalog.pg_namespace n ON n.oid OPERATOR(pg_catalog.=) c.opcnamespace
WHERE a.amname OPERATOR(pg_catalog.=) 'rag_hnsw' AND c.opcname OPERATOR(pg_catalog.=) 'vector_cosine_ops'

-- name: vector_schema
SELECT pg_catalog.quote_ident(n.nspname)
FROM pg_catalog.pg_extension e
JOIN pg_catalog.pg_namespace n ON n.oid OPERATOR(pg_catalog.=) e.extnamespace
WHERE e.extname OPERATOR(pg_catalog.=) 'vector'

-- name: vector_type
SELECT t.oid
FROM pg_catalog.pg_extension e
JOIN pg_catalog.pg_type t ON t.typnamespace OPERATOR(pg_catalog.=) e.extnamespace AND t.typname OPERATOR(pg_catalog.=) 'vector'
WHERE e.extname OPERATOR(pg_catalog.=) 'vector'
