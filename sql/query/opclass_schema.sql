SELECT pg_catalog.quote_ident(n.nspname)
FROM pg_catalog.pg_opclass c
JOIN pg_catalog.pg_am a ON a.oid = c.opcmethod
JOIN pg_catalog.pg_namespace n ON n.oid = c.opcnamespace
WHERE a.amname = 'rag_hnsw' AND c.opcname = 'vector_cosine_ops'
