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
