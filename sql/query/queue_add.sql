-- $1: pipeline, $2: the key columns of rows, row after row, $3: key columns of a row,
-- $4: when the oldest of them changed, $5: whether they were found among all rows. In the order of keys, as whoever locks several of them does.
INSERT INTO rag.queue AS q (pipeline, key, change, queued_at, fill)
SELECT $1, k.key, pg_catalog.nextval('rag.change'), $4, $5
FROM (SELECT DISTINCT k.key
      FROM (SELECT pg_catalog.array_agg(u.part ORDER BY u.place) AS key
            FROM pg_catalog.unnest($2::text[]) WITH ORDINALITY AS u (part, place)
            GROUP BY (u.place - 1) / $3) AS k
      ORDER BY k.key) AS k
WHERE EXISTS (SELECT FROM rag.pipeline AS p WHERE p.id = $1 FOR KEY SHARE)
ON CONFLICT (pipeline, key) DO UPDATE
SET change = EXCLUDED.change, changed_at = least(q.changed_at, EXCLUDED.queued_at), attempts = 0,
    next_attempt = NULL, fill = q.fill AND EXCLUDED.fill
