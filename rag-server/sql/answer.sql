-- One answer as a JSON object. $1: the question, $2: pipeline, $3: strategy, $4: k, $5: mode, $6: filter, $7: llm,
-- $8: options.
SELECT pg_catalog.to_jsonb(a)
FROM rag_answer_details($1, pipeline => $2, strategy => $3, k => $4, mode => $5, filter => $6, llm => $7, options => $8) AS a
