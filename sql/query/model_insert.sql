INSERT INTO rag.model (name, task, path, file, dimension, max_tokens, pooling, normalized,
                       query_prefix, passage_prefix, digest)
VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11)
