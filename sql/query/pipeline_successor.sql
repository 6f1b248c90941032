SELECT id FROM rag.pipeline WHERE replaces OPERATOR(pg_catalog.=) $1
