-- $1: pipeline, $2: the name of its view.
UPDATE rag.pipeline SET view = $2::text::regclass WHERE id = $1
