-- A pipeline follows the columns of its source.

-- name: pipelines_below
-- $1: a table. Pipelines whose source is this table, or a partition or child of it.
WITH RECURSIVE t (relid) AS (
    SELECT $1::pg_catalog.oid
    UNION
    SELECT i.inhrelid FROM t JOIN pg_catalog.pg_inherits AS i ON i.inhparent OPERATOR(pg_catalog.=) t.relid
)
SELECT p.id FROM rag.pipeline AS p JOIN t ON t.relid OPERATOR(pg_catalog.=) p.source ORDER BY p.id

-- name: drop_column
ALTER TABLE {chunk_table} DROP COLUMN {column}

-- name: change_type
ALTER TABLE {chunk_table} ALTER COLUMN {column} TYPE {type} USING {value}::{type}
