-- The change log rag.intake, the queue of rows, and those that were given up.

-- name: changed
-- $1: the only pipeline, or NULL for all, $2: those that it is not to be. One about which sessions have left something that nobody has
-- in hand; also one that is gone, but none that is just being restored.
SELECT i.pipeline FROM rag.intake AS i
LEFT JOIN rag.pipeline AS p ON p.id = i.pipeline
WHERE (p.not_before IS NULL OR p.not_before <= pg_catalog.clock_timestamp())
  AND (p.id IS NULL OR rag.is_whole(p.id, p.source, p.chunk_table))
  AND ($1 IS NULL OR p.id = $1 OR p.replaces = $1)
  AND i.pipeline <> ALL ($2)
LIMIT 1 FOR UPDATE OF i SKIP LOCKED

-- name: changed_elsewhere
-- $1: the only pipeline. Whether sessions have left something about it: what `changed` passes over
-- is in somebody's hand, and will be in the queue.
SELECT EXISTS (SELECT FROM rag.intake AS i
               JOIN rag.pipeline AS p ON p.id = i.pipeline
               WHERE (p.not_before IS NULL OR p.not_before <= pg_catalog.clock_timestamp())
                 AND rag.is_whole(p.id, p.source, p.chunk_table)
                 AND (p.id = $1 OR p.replaces = $1))

-- name: drain
-- $1: pipeline, $2: most rows. Takes what sessions have left. The array is made once, whatever the plan;
-- a subselect that is joined would take more rows each time that it is read.
DELETE FROM rag.intake AS i
WHERE i.ctid = ANY (ARRAY(SELECT t.ctid FROM rag.intake AS t
                          WHERE t.pipeline = $1 LIMIT $2 FOR UPDATE SKIP LOCKED))
RETURNING i.kind, i.keys, i.queued_at

-- name: add
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

-- name: any
-- $1: pipeline. Whether there is anything that workers see to.
SELECT EXISTS (SELECT FROM rag.intake WHERE pipeline = $1)
    OR EXISTS (SELECT FROM rag.queue WHERE pipeline = $1)

-- name: workable
-- $1: the only pipeline, or NULL for all that workers see to. Those that have something to do now,
-- their owners, and whether that is new work.
SELECT p.id, coalesce((SELECT c.relowner FROM pg_catalog.pg_class AS c WHERE c.oid = p.source::oid), 0::oid), w.fresh
FROM rag.pipeline AS p
CROSS JOIN (VALUES (true), (false)) AS w (fresh)
WHERE CASE WHEN $1 IS NULL THEN p.refresh <> 'manual' AND NOT p.paused ELSE p.id = $1 OR p.replaces = $1 END
  AND (p.not_before IS NULL OR p.not_before <= pg_catalog.clock_timestamp())
  AND EXISTS (SELECT FROM rag.queue AS q
              WHERE q.pipeline = p.id AND (q.attempts > 0) = NOT w.fresh
                AND (q.next_attempt IS NULL OR q.next_attempt <= pg_catalog.now())
                AND (q.lease IS NULL OR NOT rag.is_held(q.lease, q.leased_until)))
  AND rag.is_whole(p.id, p.source, p.chunk_table)
ORDER BY p.id, w.fresh DESC

-- name: in_hand
-- $1: a process. Pipelines of which another one has rows in hand.
SELECT DISTINCT q.pipeline FROM rag.queue AS q
WHERE q.lease IS NOT NULL AND q.lease >> 32 <> $1 AND rag.is_held(q.lease, q.leased_until)

-- name: next_time
-- Seconds until something can be done, 0 where that is now; NULL where there is nothing.
SELECT EXTRACT(epoch FROM pg_catalog.min(w.from_when) - pg_catalog.clock_timestamp())::double precision
FROM (
    -- Of a pipeline that is left alone for a while, rows may be many.
    SELECT greatest(p.not_before, pg_catalog.clock_timestamp()) AS from_when
    FROM rag.pipeline AS p
    WHERE NOT p.paused AND p.refresh <> 'manual'
      AND (EXISTS (SELECT FROM rag.intake AS i WHERE i.pipeline = p.id)
           OR p.not_before > pg_catalog.now() AND EXISTS (SELECT FROM rag.queue AS q WHERE q.pipeline = p.id))
    UNION ALL
    -- Without a lease nobody needs to be looked for.
    SELECT greatest(q.next_attempt, pg_catalog.clock_timestamp(),
                    CASE WHEN q.lease IS NOT NULL AND rag.is_held(q.lease, q.leased_until) THEN q.leased_until END)
    FROM rag.queue AS q
    JOIN rag.pipeline AS p ON p.id = q.pipeline
    WHERE NOT p.paused AND p.refresh <> 'manual' AND (p.not_before IS NULL OR p.not_before <= pg_catalog.now())
    UNION ALL
    -- Its index is to be built, or it is to take another's place: as soon as others let it.
    SELECT greatest(p.not_before, pg_catalog.clock_timestamp() + interval '1 second')
    FROM rag.pipeline AS p
    WHERE NOT p.paused AND p.refresh <> 'manual' AND (p.stage = 'filling' OR p.replaces IS NOT NULL)
) AS w

-- name: claim
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

-- name: owned
-- $1: pipeline, $2: lease. What is still leased so, locked, and the last change of each.
SELECT q.key, q.change FROM rag.queue AS q WHERE q.pipeline = $1 AND q.lease = $2 ORDER BY q.key FOR UPDATE

-- name: noted
-- $1: pipeline. The key columns of rows whose changes wait to be taken into the queue, row after row, in several lists.
SELECT i.keys FROM rag.intake AS i WHERE i.pipeline = $1 AND i.kind = 'keys'

-- name: renew
-- $1: pipeline, $2: lease, $3: its seconds.
UPDATE rag.queue
SET leased_until = pg_catalog.now() + pg_catalog.make_interval(secs => $3)
WHERE pipeline = $1 AND lease = $2

-- name: done
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

-- name: release
-- $1: pipeline, $2: lease. Through no fault of the rows.
UPDATE rag.queue SET lease = NULL, leased_until = NULL WHERE pipeline = $1 AND lease = $2

-- name: set_apart
-- $1: pipeline, $2: lease. These rows are tried one by one: they get the lease of no process.
UPDATE rag.queue SET lease = 0, leased_until = NULL WHERE pipeline = $1 AND lease = $2

-- name: postpone
-- $1: pipeline, $2: seconds before anything of it is tried again.
UPDATE rag.pipeline
SET not_before = pg_catalog.clock_timestamp() + pg_catalog.make_interval(secs => $2)
WHERE id = $1

-- name: fail
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

-- name: bury
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

-- name: lock_failed
-- $1: pipeline, $2: a key, or NULL for all. What has failed, locked in the order in which workers lock.
SELECT q.key FROM rag.queue AS q
WHERE q.pipeline = $1 AND q.attempts > 0 AND ($2::text[] IS NULL OR q.key = $2)
ORDER BY q.key FOR UPDATE

-- name: list_keyless
-- $1: pipeline, $2: the key columns of rows without a key, row after row, $3: key columns of a row, $4: SQLSTATE,
-- $5: message. Of the rows that were given up and have no key, lists these and no others; those that were listed already stay
-- as they are.
WITH found AS (
    SELECT pg_catalog.array_agg(u.part ORDER BY u.place) AS key
    FROM pg_catalog.unnest($2::text[]) WITH ORDINALITY AS u (part, place)
    GROUP BY (u.place - 1) / $3
), gone AS (
    DELETE FROM rag.dead_letter AS l
    WHERE l.pipeline = $1 AND pg_catalog.array_position(l.key, NULL::text) IS NOT NULL
      AND NOT EXISTS (SELECT FROM found AS f WHERE f.key = l.key)
)
INSERT INTO rag.dead_letter (pipeline, key, attempts, sqlstate, message, queued_at)
SELECT $1, f.key, 0, $4, $5, pg_catalog.now() FROM found AS f
ORDER BY f.key
ON CONFLICT (pipeline, key) DO NOTHING

-- name: retry
-- $1: pipeline, $2: a key as JSON or text, or NULL for all. How many there are, and whether some of them have no key: these
-- cannot be queued.
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
    WHERE pg_catalog.array_position(key, NULL::text) IS NULL
    ON CONFLICT DO NOTHING
)
SELECT (SELECT pg_catalog.count(*) FROM again) + (SELECT pg_catalog.count(*) FROM soon),
       EXISTS (SELECT FROM again WHERE pg_catalog.array_position(key, NULL::text) IS NOT NULL)

-- name: pending
-- $1: pipeline. Whether something that was committed before $2 waits to be found.
SELECT EXISTS (SELECT FROM rag.intake WHERE pipeline = $1 AND queued_at <= $2)
    OR EXISTS (SELECT FROM rag.queue WHERE pipeline = $1 AND queued_at <= $2)
