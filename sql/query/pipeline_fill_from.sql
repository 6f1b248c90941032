-- $1: pipeline, $2: when somebody asked for all of its rows.
UPDATE rag.pipeline SET fill_from = $2 WHERE id = $1
