-- $1: run, $2: figures as JSON objects in their order.
INSERT INTO rag.eval_metric (run, configuration, pipeline, place, metric, k, value, ci_low, ci_high, n, difference, p_value)
SELECT $1, r.configuration, r.pipeline, r.place, r.metric, r.k, r.value, r.ci_low, r.ci_high, r.n, r.difference, r.p_value
FROM pg_catalog.jsonb_to_recordset($2)
     AS r (configuration text, pipeline text, place integer, metric text, k integer, value float8,
           ci_low float8, ci_high float8, n integer, difference float8, p_value float8)
