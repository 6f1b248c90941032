-- $1: pipeline, $2: seconds before anything of it is tried again.
UPDATE rag.pipeline
SET not_before = pg_catalog.clock_timestamp() + pg_catalog.make_interval(secs => $2)
WHERE id = $1
