-- $1: pipeline, $2: what is made of its chunks, $3: the name of the table where it is kept.
UPDATE rag.pipeline SET represent = $2, representations = $3::text::regclass WHERE id = $1
