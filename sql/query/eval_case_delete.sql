-- $1: evaluation set, $2: label.
DELETE FROM rag.eval_case WHERE eval_set OPERATOR(pg_catalog.=) $1 AND label OPERATOR(pg_catalog.=) $2
