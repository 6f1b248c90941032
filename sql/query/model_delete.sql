DELETE FROM rag.model WHERE name = $1
