-- $1: the successor, $2: the name, $3: the mode, $4: the view.
UPDATE rag.pipeline SET name = $2, mode = $3, view = $4::oid::regclass, stage = 'live' WHERE id = $1
