-- $1: evaluation set; the number of its cases, which go with it.
WITH gone AS (DELETE FROM rag.eval_set WHERE name OPERATOR(pg_catalog.=) $1 RETURNING name)
SELECT pg_catalog.count(c.id) FROM gone LEFT JOIN rag.eval_case AS c ON c.eval_set OPERATOR(pg_catalog.=) gone.name
