-- The passages that speak of each of several questions, in the form of `search`. $1: the questions, $2 to $8 as there, $9:
-- passages for a question come until they have so many bytes together.
SELECT f.question_no, f.passage, f.is_last
FROM (SELECT r.question_no, r.rank, j.passage, pg_catalog.lead(r.rank) OVER w IS NULL AS is_last,
             pg_catalog.sum(s.size) OVER w OPERATOR(pg_catalog.-) s.size AS before
      FROM rag_retrieve_batch($1, pipeline => $2, k => $3, mode => $4, filter => $5, rewrite => $6, rerank => $7,
                              options => $8) AS r
      CROSS JOIN LATERAL (SELECT pg_catalog.to_jsonb(r) OPERATOR(pg_catalog.-) 'question_no'::pg_catalog.text AS passage) AS j
      CROSS JOIN LATERAL (SELECT pg_catalog.octet_length(j.passage::pg_catalog.text) AS size) AS s
      WINDOW w AS (PARTITION BY r.question_no ORDER BY r.rank ROWS UNBOUNDED PRECEDING)) AS f
WHERE f.before OPERATOR(pg_catalog.<) $9
ORDER BY f.question_no, f.rank
