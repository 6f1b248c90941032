SELECT pg_catalog.string_agg(name, ', ' ORDER BY name) FROM rag.model
