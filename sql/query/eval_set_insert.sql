-- $1: name of a new evaluation set, $2: its owner; no row where another role has one of that name.
INSERT INTO rag.eval_set (name, owner) VALUES ($1, $2::pg_catalog.name) ON CONFLICT DO NOTHING RETURNING name
