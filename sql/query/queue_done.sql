-- $1: pipeline, $2: lease, $3: parts of the keys that are done, row after row, $4: key columns of a
-- row, $5: the changes that were done. What has changed since then stays.
WITH done AS (
    SELECT k.key, c.change
    FROM (SELECT (u.place - 1) / $4 AS place, pg_catalog.array_agg(u.part ORDER BY u.place) AS key
          FROM pg_catalog.unnest($3::text[]) WITH ORDINALITY AS u (part, place)
          GROUP BY (u.place - 1) / $4) AS k
    JOIN pg_catalog.unnest($5::bigint[]) WITH ORDINALITY AS c (change, place)
      ON c.place - 1 = k.place
), deleted AS (
    DELETE FROM rag.queue AS q USING done AS d
    WHERE q.pipeline = $1 AND q.key = d.key AND q.change = d.change AND q.lease = $2
    RETURNING q.key
), forgiven AS (
    DELETE FROM rag.dead_letter AS l USING done AS d
    WHERE l.pipeline = $1 AND l.key = d.key
)
UPDATE rag.queue AS q
SET lease = NULL, leased_until = NULL, queued_at = coalesce(q.changed_at, q.queued_at),
    changed_at = NULL, attempts = 0, next_attempt = NULL
FROM done AS d
WHERE q.pipeline = $1 AND q.key = d.key AND q.change <> d.change AND q.lease = $2
