-- $1: table. It, and its partitions if it has any.
SELECT t.relid::oid FROM pg_catalog.pg_partition_tree($1) AS t
