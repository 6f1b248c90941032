SELECT p.id, p.name, p.source::oid, p.content_view::oid, p.chunk_table::oid, p.view::oid,
       p.source::text, p.content_view::text, p.chunk_table::text, p.view::text,
       p.key_columns, p.model, p.strategy, p.max_tokens, p.overlap,
       p.config::oid, p.generation
FROM rag.pipeline p
WHERE p.name = $1 OR p.id = $2
