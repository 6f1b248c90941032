-- $1: evaluation set, $2: its new owner.
UPDATE rag.eval_set SET owner = $2::pg_catalog.name WHERE name OPERATOR(pg_catalog.=) $1
