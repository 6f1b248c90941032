-- Registered models.

-- name: find
SELECT name, path, file, dimension, max_tokens, digest, builtin, server, remote_model, task,
       pooling
FROM rag.model
WHERE name OPERATOR(pg_catalog.=) $1 AND task OPERATOR(pg_catalog.<>) 'generate'

-- name: local
SELECT task, path, digest, max_tokens FROM rag.model WHERE name OPERATOR(pg_catalog.=) $1

-- name: exists
SELECT 1 FROM rag.model WHERE name OPERATOR(pg_catalog.=) $1

-- name: figures
SELECT dimension, max_tokens, pooling, normalized, digest FROM rag.model WHERE name OPERATOR(pg_catalog.=) $1

-- name: insert
INSERT INTO rag.model (name, task, path, file, dimension, max_tokens, pooling, normalized,
                       query_prefix, passage_prefix, digest)
VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11)

-- name: insert_remote
INSERT INTO rag.model (name, server, remote_model, dimension, max_tokens, task, normalized)
VALUES ($1, $2, $3, $4, $5, $6, $7)

-- name: insert_local
INSERT INTO rag.model (name, task, path, max_tokens, normalized, digest)
VALUES ($1, 'generate', $2, $3, false, $4)

-- name: names
SELECT pg_catalog.string_agg(name, ', ' ORDER BY name) FROM rag.model
WHERE (task OPERATOR(pg_catalog.=) 'generate') OPERATOR(pg_catalog.=) $1

-- name: users
SELECT pg_catalog.string_agg(p.name, ', ' ORDER BY p.name) FROM rag.pipeline AS p
WHERE p.model OPERATOR(pg_catalog.=) $1
   OR EXISTS (SELECT FROM rag.derivation AS d
              WHERE d.pipeline OPERATOR(pg_catalog.=) p.id AND d.kind OPERATOR(pg_catalog.=) 'mentions'
                AND d.options OPERATOR(pg_catalog.->>) 'ner_model' OPERATOR(pg_catalog.=) $1)

-- name: keep
-- It is there until the end of the transaction.
SELECT 1 FROM rag.model WHERE name OPERATOR(pg_catalog.=) $1 FOR KEY SHARE

-- name: lock
-- Nobody begins to use it until the end of the transaction.
SELECT 1 FROM rag.model WHERE name OPERATOR(pg_catalog.=) $1 FOR UPDATE

-- name: delete
DELETE FROM rag.model WHERE name OPERATOR(pg_catalog.=) $1
