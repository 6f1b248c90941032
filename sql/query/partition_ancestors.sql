-- $1: a table. Itself, if it is a partition, and what it is a partition of.
SELECT relid::pg_catalog.oid FROM pg_catalog.pg_partition_ancestors($1::pg_catalog.oid::pg_catalog.regclass)
