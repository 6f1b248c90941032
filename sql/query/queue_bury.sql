-- $1: pipeline, $2: key, $3: lease, $4: SQLSTATE, $5: message, $6: the change that was tried. The last
-- attempt has failed. A row that has changed since then has all of its attempts before it.
WITH given_up AS (
    DELETE FROM rag.queue WHERE pipeline = $1 AND key = $2 AND lease = $3 AND change = $6
    RETURNING attempts, queued_at
), changed AS (
    UPDATE rag.queue SET lease = NULL, leased_until = NULL, changed_at = NULL
    WHERE pipeline = $1 AND key = $2 AND lease = $3 AND change <> $6
)
INSERT INTO rag.dead_letter (pipeline, key, attempts, sqlstate, message, queued_at)
SELECT $1, $2, g.attempts + 1, $4, $5, g.queued_at FROM given_up AS g
ON CONFLICT (pipeline, key) DO UPDATE
SET attempts = EXCLUDED.attempts, sqlstate = EXCLUDED.sqlstate, message = EXCLUDED.message,
    queued_at = EXCLUDED.queued_at, failed_at = EXCLUDED.failed_at
