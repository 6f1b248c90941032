-- The passages that speak of a question, best first, each a row of rag_retrieve as JSON. $1: the question, $2: pipeline,
-- $3: k, $4: mode, $5: filter, $6: rewrite, $7: rerank, $8: options, $9: passages come until they have so many bytes
-- together. The first column is the place of the question, counted from 1; the last says whether there are no more
-- passages for it.
SELECT 1 AS question_no, f.passage, f.is_last
FROM (SELECT r.rank, j.passage, pg_catalog.lead(r.rank) OVER w IS NULL AS is_last,
             pg_catalog.sum(s.size) OVER w OPERATOR(pg_catalog.-) s.size AS before
      FROM rag_retrieve($1, pipeline => $2, k => $3, mode => $4, filter => $5, rewrite => $6, rerank => $7,
                        options => $8) AS r
      CROSS JOIN LATERAL (SELECT pg_catalog.to_jsonb(r) AS passage) AS j
      CROSS JOIN LATERAL (SELECT pg_catalog.octet_length(j.passage::pg_catalog.text) AS size) AS s
      WINDOW w AS (ORDER BY r.rank ROWS UNBOUNDED PRECEDING)) AS f
WHERE f.before OPERATOR(pg_catalog.<) $9
ORDER BY f.rank
