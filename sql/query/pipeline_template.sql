SELECT template FROM rag.pipeline WHERE id OPERATOR(pg_catalog.=) $1
