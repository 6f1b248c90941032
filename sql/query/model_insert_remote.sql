INSERT INTO rag.model (name, server, remote_model, dimension, max_tokens, task, normalized)
VALUES ($1, $2, $3, $4, $5, $6, $7)
