-- $1: name of an evaluation set.
SELECT id, question, answers, relevant, filter FROM rag.eval_case WHERE eval_set OPERATOR(pg_catalog.=) $1 ORDER BY id
