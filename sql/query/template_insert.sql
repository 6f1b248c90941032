-- $1: name, $2: content, $3: description, that of the version before if NULL. What is there already
-- is no new version.
WITH newest AS (
    SELECT version, content, description FROM rag.template WHERE name = $1 ORDER BY version DESC LIMIT 1
), inserted AS (
    INSERT INTO rag.template (name, version, content, description)
    SELECT $1, coalesce(n.version, 0) + 1, $2, coalesce($3, n.description)
    FROM (SELECT) AS always LEFT JOIN newest AS n ON true
    WHERE n.content IS DISTINCT FROM $2 OR $3 IS NOT NULL AND $3 IS DISTINCT FROM n.description
    RETURNING version
)
SELECT version FROM inserted
UNION ALL
SELECT version FROM newest WHERE NOT EXISTS (SELECT FROM inserted)
