-- $1: pipeline, $2: the name of its view.
UPDATE rag.pipeline SET view = $2::pg_catalog.text::pg_catalog.regclass WHERE id OPERATOR(pg_catalog.=) $1
