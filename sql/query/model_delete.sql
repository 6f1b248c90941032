DELETE FROM rag.model WHERE name OPERATOR(pg_catalog.=) $1
