-- Pipelines whose source belongs to another role than their chunks, and that role, quoted.
SELECT p.id, pg_catalog.quote_ident(pg_catalog.pg_get_userbyid(s.relowner))
FROM rag.pipeline AS p
JOIN pg_catalog.pg_class AS s ON s.oid = p.source
JOIN pg_catalog.pg_class AS c ON c.oid = p.chunk_table
WHERE s.relowner <> c.relowner
