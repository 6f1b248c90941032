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

-- name: change_types
-- All columns in one statement, which writes the table once.
ALTER TABLE {chunk_table} {changes}

-- name: change_of_type
ALTER COLUMN {column} TYPE {type} USING {value}::{type}

-- name: add_column
ALTER TABLE {chunk_table} ADD COLUMN {column} {type}

-- name: fill_columns
-- The columns are those of the key, and what makes the values; the values are assignments of these, which are of s.
UPDATE {chunk_table} AS c SET {values} FROM (SELECT {columns} FROM {source} AS {alias}) AS s WHERE {key_join}

-- name: vector_indexes
-- $1: a chunk table, $2: columns of it, bare. Indexes of its vectors: their names; what makes them where they are, NULL where
-- that has expressions of their owner's; whether they filter by one of the columns; and their comments.
SELECT i.indexrelid::pg_catalog.regclass::pg_catalog.text,
       CASE WHEN i.indexprs IS NULL AND i.indpred IS NULL
            THEN pg_catalog.concat(pg_catalog.pg_get_indexdef(i.indexrelid), ' TABLESPACE ', pg_catalog.quote_ident(s.spcname)) END,
       EXISTS (SELECT FROM pg_catalog.pg_attribute AS a
               WHERE a.attrelid OPERATOR(pg_catalog.=) i.indrelid AND a.attnum OPERATOR(pg_catalog.=) ANY (i.indkey)
                 AND a.attname OPERATOR(pg_catalog.=) ANY ($2::pg_catalog.name[])),
       pg_catalog.obj_description(i.indexrelid, 'pg_class')
FROM pg_catalog.pg_index AS i
JOIN pg_catalog.pg_class AS c ON c.oid OPERATOR(pg_catalog.=) i.indexrelid
JOIN pg_catalog.pg_am AS m ON m.oid OPERATOR(pg_catalog.=) c.relam AND m.amname OPERATOR(pg_catalog.=) 'rag_hnsw'
JOIN pg_catalog.pg_database AS d ON d.datname OPERATOR(pg_catalog.=) pg_catalog.current_database()
JOIN pg_catalog.pg_tablespace AS s
  ON s.oid OPERATOR(pg_catalog.=) CASE WHEN c.reltablespace OPERATOR(pg_catalog.=) 0::pg_catalog.oid THEN d.dattablespace ELSE c.reltablespace END
WHERE i.indrelid OPERATOR(pg_catalog.=) $1
ORDER BY i.indexrelid

-- name: types_of_users
-- $1: a view. The types that it names other than plain ones that have been made here: to read a literal of such a type may call
-- functions of whoever has made it, as the constraint of a domain does.
SELECT t.oid
FROM pg_catalog.pg_rewrite AS r
JOIN pg_catalog.pg_depend AS d
  ON d.classid OPERATOR(pg_catalog.=) 'pg_catalog.pg_rewrite'::pg_catalog.regclass::pg_catalog.oid AND d.objid OPERATOR(pg_catalog.=) r.oid
 AND d.refclassid OPERATOR(pg_catalog.=) 'pg_catalog.pg_type'::pg_catalog.regclass::pg_catalog.oid
JOIN pg_catalog.pg_type AS t ON t.oid OPERATOR(pg_catalog.=) d.refobjid
WHERE r.ev_class OPERATOR(pg_catalog.=) $1 AND t.typtype OPERATOR(pg_catalog.<>) 'e'
  AND (t.typtype OPERATOR(pg_catalog.<>) 'b' OR t.typelem OPERATOR(pg_catalog.<>) 0::pg_catalog.oid)

-- name: drop_index
DROP INDEX {index}
