SELECT EXISTS (SELECT FROM rag.trace_log WHERE id OPERATOR(pg_catalog.=) $1)
