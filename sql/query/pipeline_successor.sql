SELECT id FROM rag.pipeline WHERE replaces = $1
