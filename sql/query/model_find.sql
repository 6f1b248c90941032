SELECT name, path, file, dimension, max_tokens, digest, builtin, server, remote_model, task
FROM rag.model
WHERE name = $1
