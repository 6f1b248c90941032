SELECT id FROM rag.conversation WHERE id OPERATOR(pg_catalog.=) $1
