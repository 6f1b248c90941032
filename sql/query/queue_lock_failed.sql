-- $1: pipeline, $2: a key, or NULL for all. What has failed, locked in the order in which workers lock.
SELECT q.key FROM rag.queue AS q
WHERE q.pipeline = $1 AND q.attempts > 0 AND ($2::text[] IS NULL OR q.key = $2)
ORDER BY q.key FOR UPDATE
