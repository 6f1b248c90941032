-- $1: pipeline, $2: its name, $3: its mode.
UPDATE rag.pipeline SET name = $2, mode = $3 WHERE id = $1
