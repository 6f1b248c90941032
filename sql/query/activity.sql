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
-- $1: pipeline, $2: rows that failed, $3: SQLSTATE, $4: message.
INSERT INTO rag.activity AS a (pipeline, rows_failed, last_failed_at, last_sqlstate, last_error)
SELECT $1, $2, pg_catalog.clock_timestamp(), $3, $4
WHERE EXISTS (SELECT FROM rag.pipeline AS p WHERE p.id = $1 FOR KEY SHARE)
ON CONFLICT (pipeline) DO UPDATE
SET rows_failed = a.rows_failed + EXCLUDED.rows_failed, last_failed_at = EXCLUDED.last_failed_at,
    last_sqlstate = EXCLUDED.last_sqlstate, last_error = EXCLUDED.last_error
