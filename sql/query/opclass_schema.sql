SELECT pg_catalog.quote_ident(n.nspname)
FROM pg_catalog.pg_opclass c
JOIN pg_catalog.pg_am a ON a.oid OPERATOR(pg_catalog.=) c.opcmethod
JOIN pg_catalog.pg_namespace n ON n.oid OPERATOR(pg_catalog.=) c.opcnamespace
WHERE a.amname OPERATOR(pg_catalog.=) 'rag_hnsw' AND c.opcname OPERATOR(pg_catalog.=) 'vector_cosine_ops'
