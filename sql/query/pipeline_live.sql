UPDATE rag.pipeline SET stage = 'live' WHERE id = $1
