-- $1: name.
SELECT pg_catalog.string_agg(version::text, ', ' ORDER BY version) FROM rag.template WHERE name = $1
