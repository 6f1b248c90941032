-- $1: pipeline, $2: lease, $3: its seconds.
UPDATE rag.queue
SET leased_until = pg_catalog.now() + pg_catalog.make_interval(secs => $3)
WHERE pipeline = $1 AND lease = $2
