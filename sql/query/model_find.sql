SELECT name, path, file, dimension, max_tokens, digest, builtin, server, remote_model, task,
       pooling
FROM rag.model
WHERE name OPERATOR(pg_catalog.=) $1
