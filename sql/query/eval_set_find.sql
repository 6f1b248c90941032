-- $1: name of an evaluation set; a row if the caller may see it.
SELECT name FROM rag.eval_set WHERE name OPERATOR(pg_catalog.=) $1
