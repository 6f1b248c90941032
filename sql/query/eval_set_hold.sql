-- $1: name of an evaluation set, which stays until the end of the transaction.
SELECT name FROM rag.eval_set WHERE name OPERATOR(pg_catalog.=) $1 FOR KEY SHARE
