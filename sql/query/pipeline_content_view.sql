-- $1: pipeline, $2: the name of its content view, or NULL while it has none.
UPDATE rag.pipeline SET content_view = coalesce($2::pg_catalog.text::pg_catalog.regclass, 0::pg_catalog.oid::pg_catalog.regclass) WHERE id OPERATOR(pg_catalog.=) $1
