-- $1: pipeline, $2: most rows, $3: lease, $4: its seconds, $5: whether rows that have failed are
-- wanted and not new ones. What is found is materialized, so that it is found once, whatever the plan.
WITH found AS MATERIALIZED (
    SELECT w.pipeline, w.key
    FROM rag.queue AS w
    WHERE w.pipeline = $1 AND (w.attempts > 0) = $5
      AND (w.next_attempt IS NULL OR w.next_attempt <= pg_catalog.now())
      AND (w.lease IS NULL OR NOT rag.is_held(w.lease, w.leased_until))
    ORDER BY w.change
    LIMIT $2 FOR UPDATE SKIP LOCKED
)
UPDATE rag.queue AS q
SET lease = $3, changed_at = NULL, leased_until = pg_catalog.now() + pg_catalog.make_interval(secs => $4)
FROM found AS c
WHERE q.pipeline = c.pipeline AND q.key = c.key
RETURNING q.key, q.change, q.attempts
