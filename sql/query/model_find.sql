SELECT name, path, file, dimension, max_tokens, digest, builtin
FROM rag.model
WHERE name = $1
