-- Relations of pipelines: owners, readers, row-level security, partitions.

-- name: exists
-- $1: OID. The relation's bare name, quoted.
SELECT pg_catalog.quote_ident(relname) FROM pg_catalog.pg_class WHERE oid OPERATOR(pg_catalog.=) $1

-- name: change_owner
ALTER {kind} {relation} OWNER TO {owner}

-- name: readers
-- $1: the source's OID. Roles that may read the whole table, besides its owner and PUBLIC.
SELECT DISTINCT pg_catalog.quote_ident(r.rolname)
FROM pg_catalog.pg_class c
CROSS JOIN LATERAL pg_catalog.aclexplode(c.relacl) AS a
JOIN pg_catalog.pg_roles r ON r.oid OPERATOR(pg_catalog.=) a.grantee
WHERE c.oid OPERATOR(pg_catalog.=) $1 AND a.privilege_type OPERATOR(pg_catalog.=) 'SELECT' AND a.grantee OPERATOR(pg_catalog.<>) c.relowner
ORDER BY 1

-- name: grant_select
GRANT SELECT ON {relations} TO {readers}

-- name: create_vector_index
CREATE INDEX {name} ON {chunk_table} USING rag_hnsw (embedding {opclass_schema}.vector_cosine_ops{filters})

-- name: drop_table
DROP TABLE IF EXISTS {chunk_table}

-- name: drop_view
DROP VIEW IF EXISTS {view}

-- name: enable_row_security
ALTER TABLE {chunk_table} ENABLE ROW LEVEL SECURITY

-- name: force_row_security
ALTER TABLE {chunk_table} FORCE ROW LEVEL SECURITY

-- name: partition_tree
-- $1: table. It, and its partitions if it has any; none of them is locked, as pg_partition_tree would.
WITH RECURSIVE t (relid) AS (
    SELECT $1::pg_catalog.oid
    UNION ALL
    SELECT i.inhrelid FROM t JOIN pg_catalog.pg_inherits AS i ON i.inhparent OPERATOR(pg_catalog.=) t.relid
    JOIN pg_catalog.pg_class AS c ON c.oid OPERATOR(pg_catalog.=) i.inhrelid AND c.relispartition
)
SELECT relid FROM t

-- name: partition_ancestors
-- $1: a table. Itself, if it is a partition, and what it is a partition of.
SELECT relid::pg_catalog.oid FROM pg_catalog.pg_partition_ancestors($1::pg_catalog.oid::pg_catalog.regclass)
