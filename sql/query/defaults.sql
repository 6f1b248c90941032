-- With which options questions of a pipeline are asked where a call says nothing else.

-- name: of
-- $1: pipeline.
SELECT defaults FROM rag.pipeline WHERE id OPERATOR(pg_catalog.=) $1

-- name: set
-- $1: pipeline, $2: defaults, NULL for none. A successor has the same.
UPDATE rag.pipeline SET defaults = $2 WHERE id OPERATOR(pg_catalog.=) $1 OR replaces OPERATOR(pg_catalog.=) $1
