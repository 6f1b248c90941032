-- $1: run, $2: what was found for cases, as JSON objects. Cases that have been deleted meanwhile are
-- left out.
INSERT INTO rag.eval_result (run, configuration, case_id, pipeline, latency_ms, scores, found, answer)
SELECT $1, r.configuration, r.case_id, r.pipeline, r.latency_ms, r.scores, r.found, r.answer
FROM pg_catalog.jsonb_to_recordset($2)
     AS r (configuration text, case_id bigint, pipeline text, latency_ms float8, scores jsonb, found jsonb,
           answer text)
JOIN rag.eval_case AS c ON c.id = r.case_id
FOR KEY SHARE OF c
