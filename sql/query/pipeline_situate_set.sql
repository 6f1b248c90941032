-- $1: pipeline, $2: who says where its chunks stand, $3: the name of the table where that is kept.
UPDATE rag.pipeline SET context_llm = $2, contexts = $3::text::regclass WHERE id = $1
