INSERT INTO rag.model (name, server, remote_model, dimension, max_tokens, normalized)
VALUES ($1, $2, $3, $4, $5, true)
