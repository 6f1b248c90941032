-- What has been done for pipelines, and what went wrong.

-- name: add
-- $1: pipeline, $2: rows done, $3: chunks, $4: of them embedded, $5: tokens embedded, $6: seconds
-- that it took.
INSERT INTO rag.activity AS a (pipeline, rows_done, chunks_made, chunks_embedded, tokens_embedded,
                               rows_a_second, last_done_at)
SELECT $1, $2, $3, $4, $5, $2 / greatest($6, 0.001), pg_catalog.clock_timestamp()
WHERE EXISTS (SELECT FROM rag.pipeline AS p WHERE p.id = $1 FOR KEY SHARE)
ON CONFLICT (pipeline) DO UPDATE
SET rows_done = a.rows_done + EXCLUDED.rows_done,
    chunks_made = a.chunks_made + EXCLUDED.chunks_made,
    chunks_embedded = a.chunks_embedded + EXCLUDED.chunks_embedded,
    tokens_embedded = a.tokens_embedded + EXCLUDED.tokens_embedded,
    rows_a_second = coalesce(0.7 * a.rows_a_second + 0.3 * EXCLUDED.rows_a_second, EXCLUDED.rows_a_second),
    last_done_at = EXCLUDED.last_done_at

-- name: fail
-- $1: pipeline, $2: rows that failed, $3: SQLSTATE, $4: message, $5: whether derivations wait because of it.
INSERT INTO rag.activity AS a (pipeline, rows_failed, last_failed_at, last_sqlstate, last_error, holds_derivations)
SELECT $1, $2, pg_catalog.clock_timestamp(), $3, $4, $5
WHERE EXISTS (SELECT FROM rag.pipeline AS p WHERE p.id = $1 FOR KEY SHARE)
ON CONFLICT (pipeline) DO UPDATE
SET rows_failed = a.rows_failed + EXCLUDED.rows_failed, last_failed_at = EXCLUDED.last_failed_at,
    last_sqlstate = EXCLUDED.last_sqlstate, last_error = EXCLUDED.last_error, holds_derivations = EXCLUDED.holds_derivations

-- name: recover
-- $1: pipeline. The failure for which its derivations waited is over once all of them are made.
UPDATE rag.activity
SET last_failed_at = NULL, last_sqlstate = NULL, last_error = NULL, holds_derivations = false
WHERE pipeline = $1 AND holds_derivations
  AND NOT EXISTS (SELECT FROM rag.derivation AS d
                  WHERE d.pipeline = $1 AND d.kind NOT IN ('mentions', 'relations') AND (d.missing IS NULL OR d.missing > 0))
