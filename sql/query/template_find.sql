-- $1: name, $2: version, NULL for the newest.
SELECT name, version, content FROM rag.template
WHERE name OPERATOR(pg_catalog.=) $1 AND ($2 IS NULL OR version OPERATOR(pg_catalog.=) $2)
ORDER BY version DESC
LIMIT 1
