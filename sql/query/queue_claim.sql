-- $1: pipeline, $2: most rows, $3: lease, $4: its seconds, $5: whether rows that have failed are
-- wanted and not new ones, $6: whether only rows of a fill are. What is found is materialized, so that it is found once, whatever the plan, and
-- the rows are fetched by their places, however many others there are. A row that was in the hand of a
-- process that has gone may be the reason: it is taken alone, and the lease says so by an odd number. The
-- lease that each row had before comes last.
WITH found AS MATERIALIZED (
    SELECT w.ctid AS place, w.change, w.lease
    FROM rag.queue AS w
    WHERE w.pipeline = $1 AND (w.attempts > 0) = $5 AND (w.fill OR NOT $6)
      AND (w.next_attempt IS NULL OR w.next_attempt <= pg_catalog.now())
      AND (w.lease IS NULL OR NOT rag.is_held(w.lease, w.leased_until))
    ORDER BY w.fill, w.change
    LIMIT $2 FOR UPDATE SKIP LOCKED
), apart AS MATERIALIZED (
    SELECT f.place FROM found AS f WHERE f.lease IS NOT NULL ORDER BY f.change LIMIT 1
), chosen AS MATERIALIZED (
    SELECT f.place, f.lease FROM found AS f WHERE f.place = (TABLE apart) OR NOT EXISTS (TABLE apart)
)
UPDATE rag.queue AS q
SET lease = $3 + (SELECT (pg_catalog.count(*) = 1)::integer FROM chosen), changed_at = NULL,
    leased_until = pg_catalog.now() + pg_catalog.make_interval(secs => $4)
FROM chosen AS c
WHERE q.ctid = ANY (ARRAY(SELECT s.place FROM chosen AS s)) AND q.ctid = c.place
RETURNING q.key, q.change, q.attempts, q.lease, q.fill, c.lease
