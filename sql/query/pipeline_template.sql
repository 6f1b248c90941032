SELECT template FROM rag.pipeline WHERE id = $1
