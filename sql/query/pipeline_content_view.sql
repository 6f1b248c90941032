-- $1: pipeline, $2: the name of its content view, or NULL while it has none.
UPDATE rag.pipeline SET content_view = coalesce($2::text::regclass, 0::oid::regclass) WHERE id = $1
