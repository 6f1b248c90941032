DELETE FROM rag.pipeline WHERE id = $1
