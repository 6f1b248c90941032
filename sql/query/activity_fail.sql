-- $1: pipeline, $2: rows that failed, $3: SQLSTATE, $4: message.
INSERT INTO rag.activity AS a (pipeline, rows_failed, last_failed_at, last_sqlstate, last_error)
SELECT $1, $2, pg_catalog.clock_timestamp(), $3, $4
WHERE EXISTS (SELECT FROM rag.pipeline AS p WHERE p.id = $1 FOR KEY SHARE)
ON CONFLICT (pipeline) DO UPDATE
SET rows_failed = a.rows_failed + EXCLUDED.rows_failed, last_failed_at = EXCLUDED.last_failed_at,
    last_sqlstate = EXCLUDED.last_sqlstate, last_error = EXCLUDED.last_error
