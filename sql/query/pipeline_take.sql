-- $1: pipeline. For whoever builds its index; nobody waits for that.
SELECT id FROM rag.pipeline WHERE id = $1 FOR NO KEY UPDATE SKIP LOCKED
