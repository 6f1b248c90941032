-- $1: pipeline, $2: key, $3: lease, $4: SQLSTATE, $5: message, $6: the change that was tried,
-- $7: seconds until the next attempt. A row that has changed since then is tried at once.
WITH changed AS (
    UPDATE rag.queue SET lease = NULL, leased_until = NULL, changed_at = NULL
    WHERE pipeline = $1 AND key = $2 AND lease = $3 AND change <> $6
)
UPDATE rag.queue
SET attempts = attempts + 1, sqlstate = $4, message = $5, lease = NULL, leased_until = NULL,
    next_attempt = pg_catalog.now() + pg_catalog.make_interval(secs => $7)
WHERE pipeline = $1 AND key = $2 AND lease = $3 AND change = $6
