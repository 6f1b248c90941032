SELECT pg_catalog.string_agg(DISTINCT name, ', ' ORDER BY name) FROM rag.template
