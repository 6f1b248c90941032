-- $1: name of a new evaluation set; no row where another role has one of that name.
INSERT INTO rag.eval_set (name) VALUES ($1) ON CONFLICT DO NOTHING RETURNING name
