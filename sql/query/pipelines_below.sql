-- $1: a table. Pipelines whose source is this table, or a partition or child of it.
WITH RECURSIVE t (relid) AS (
    SELECT $1::oid
    UNION
    SELECT i.inhrelid FROM t JOIN pg_catalog.pg_inherits AS i ON i.inhparent = t.relid
)
SELECT p.id FROM rag.pipeline AS p JOIN t ON t.relid = p.source ORDER BY p.id
