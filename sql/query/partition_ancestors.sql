-- $1: a table. Itself, if it is a partition, and what it is a partition of.
SELECT relid::oid FROM pg_catalog.pg_partition_ancestors($1::oid::regclass)
