-- $1: table. It, and its partitions if it has any; none of them is locked, as pg_partition_tree would.
WITH RECURSIVE t (relid) AS (
    SELECT $1::pg_catalog.oid
    UNION ALL
    SELECT i.inhrelid FROM t JOIN pg_catalog.pg_inherits AS i ON i.inhparent OPERATOR(pg_catalog.=) t.relid
    JOIN pg_catalog.pg_class AS c ON c.oid OPERATOR(pg_catalog.=) i.inhrelid AND c.relispartition
)
SELECT relid FROM t
