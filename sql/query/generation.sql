-- A generation takes the place of another one.

-- name: content_size
-- $1: more rows than are counted. Rows and bytes of the content, as far as they are few.
SELECT pg_catalog.count(*), coalesce(pg_catalog.sum(pg_catalog.octet_length(v.content)), 0)::bigint
FROM (SELECT v.content FROM {content_view} AS v LIMIT $1) AS v

-- name: analyze
ANALYZE {chunk_table}

-- name: lock_for_exchange
-- In the order in which a question locks them.
LOCK TABLE {view}, {chunk_table}, {source} IN ACCESS EXCLUSIVE MODE

-- name: view_definition
SELECT pg_catalog.pg_get_viewdef($1::pg_catalog.oid)

-- name: replace_view
CREATE OR REPLACE VIEW {view} WITH (security_invoker = true) AS {definition}

-- name: rename_relation
ALTER {kind} {relation} RENAME TO {name}
