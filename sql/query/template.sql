-- Templates of prompts, and which of them pipelines use.

-- name: names
SELECT pg_catalog.string_agg(DISTINCT name, ', ' ORDER BY name) FROM rag.template

-- name: versions
-- $1: name.
SELECT pg_catalog.string_agg(version::pg_catalog.text, ', ' ORDER BY version) FROM rag.template WHERE name OPERATOR(pg_catalog.=) $1

-- name: find
-- $1: name, $2: version, NULL for the newest.
SELECT name, version, content FROM rag.template
WHERE name OPERATOR(pg_catalog.=) $1 AND ($2 IS NULL OR version OPERATOR(pg_catalog.=) $2)
ORDER BY version DESC
LIMIT 1

-- name: lock
-- As a superuser: whoever may add a version may not lock the table, and a lock that every role can take would let each of
-- them keep the others from it.
LOCK TABLE rag.template IN SHARE ROW EXCLUSIVE MODE

-- name: insert
-- $1: name, $2: content, $3: description, that of the version before if NULL. What is there already
-- is no new version.
WITH newest AS (
    SELECT version, content, description FROM rag.template WHERE name OPERATOR(pg_catalog.=) $1 ORDER BY version DESC LIMIT 1
), inserted AS (
    INSERT INTO rag.template (name, version, content, description)
    SELECT $1, coalesce(n.version, 0) OPERATOR(pg_catalog.+) 1, $2, coalesce($3, n.description)
    FROM (SELECT) AS always LEFT JOIN newest AS n ON true
    WHERE n.content IS NULL OR n.content OPERATOR(pg_catalog.<>) $2
       OR $3 IS NOT NULL AND (n.description IS NULL OR n.description OPERATOR(pg_catalog.<>) $3)
    RETURNING version
)
SELECT version FROM inserted
UNION ALL
SELECT version FROM newest WHERE NOT EXISTS (SELECT FROM inserted)
