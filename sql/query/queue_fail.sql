-- $1: pipeline, $2: key, $3: lease, $4: SQLSTATE, $5: message, $6: seconds until the next attempt.
UPDATE rag.queue
SET attempts = attempts + 1, sqlstate = $4, message = $5, lease = NULL, leased_until = NULL,
    next_attempt = pg_catalog.now() + pg_catalog.make_interval(secs => $6)
WHERE pipeline = $1 AND key = $2 AND lease = $3
