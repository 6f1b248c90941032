-- $1: name.
SELECT pg_catalog.string_agg(version::pg_catalog.text, ', ' ORDER BY version) FROM rag.template WHERE name OPERATOR(pg_catalog.=) $1
