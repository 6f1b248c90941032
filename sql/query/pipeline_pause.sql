-- A pipeline, and the one that is to replace it.
UPDATE rag.pipeline SET paused = $2, not_before = NULL WHERE id = $1 OR replaces = $1
