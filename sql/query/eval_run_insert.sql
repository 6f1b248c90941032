-- $1: evaluation set, $2: the role that called, $3: number of cases, $4: the k, $5: configurations as
-- JSON text, $6: options, $7: version of pg_rag, $8: seconds since the beginning.
INSERT INTO rag.eval_run (eval_set, owner, cases, k, configurations, options, version, started_at, finished_at)
SELECT s.name, $2::name, $3, $4, $5::json, $6, $7,
        pg_catalog.clock_timestamp() - pg_catalog.make_interval(secs => $8), pg_catalog.clock_timestamp()
FROM rag.eval_set AS s WHERE s.name = $1 FOR KEY SHARE
RETURNING id
