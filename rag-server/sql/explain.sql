-- The steps of an answer as a JSON array. Parameters as in `answer`.
SELECT COALESCE(pg_catalog.jsonb_agg(pg_catalog.to_jsonb(s) ORDER BY s.step), '[]')
FROM rag_explain($1, pipeline => $2, strategy => $3, k => $4, mode => $5, filter => $6, llm => $7, options => $8) AS s
