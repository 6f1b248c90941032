SELECT pg_catalog.string_agg(name, ', ' ORDER BY name) FROM rag.pipeline WHERE model OPERATOR(pg_catalog.=) $1
