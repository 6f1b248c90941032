SELECT name, path, file, dimension, max_tokens, digest, builtin, server, remote_model
FROM rag.model
WHERE name = $1
