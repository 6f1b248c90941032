-- The chunks that speak of a question, best first. $1: the question, $2: pipeline, $3: k, $4: mode, $5: filter.
SELECT r.rank, r.score, r.pipeline, r.source_key, r.start_char, r.end_char, r.heading, r.content
FROM rag_retrieve($1, pipeline => $2, k => $3, mode => $4, filter => $5) AS r
ORDER BY r.rank
