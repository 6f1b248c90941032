-- $1: pipeline, $2: a key as JSON or text, or NULL for all.
WITH again AS (
    DELETE FROM rag.dead_letter
    WHERE pipeline = $1 AND ($2::text[] IS NULL OR key = $2)
    RETURNING key, queued_at
), soon AS (
    UPDATE rag.queue SET next_attempt = NULL, attempts = 0
    WHERE pipeline = $1 AND attempts > 0 AND ($2::text[] IS NULL OR key = $2)
    RETURNING key
), queued AS (
    INSERT INTO rag.queue (pipeline, key, change, queued_at)
    SELECT $1, key, pg_catalog.nextval('rag.change'), queued_at FROM again
    ON CONFLICT DO NOTHING
)
SELECT (SELECT pg_catalog.count(*) FROM again) + (SELECT pg_catalog.count(*) FROM soon)
