-- $1: pipeline. What is made of its chunks, and where that is.
SELECT p.represent, c.oid, pg_catalog.quote_ident(n.nspname) || '.' || pg_catalog.quote_ident(c.relname)
FROM rag.pipeline AS p
JOIN pg_catalog.pg_class AS c ON c.oid = p.representations
JOIN pg_catalog.pg_namespace AS n ON n.oid = c.relnamespace
WHERE p.id = $1 AND p.represent IS NOT NULL
