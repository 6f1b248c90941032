-- $1: name, or $2: ID of a pipeline. Of one that is to replace another, the other's name. Relations
-- by their qualified names, or, of those that are gone, by their number.
SELECT p.id, p.name, p.source::pg_catalog.oid, p.content_view::pg_catalog.oid, p.chunk_table::pg_catalog.oid, p.view::pg_catalog.oid,
       coalesce(r.names[1], p.source::pg_catalog.text), coalesce(r.names[2], p.content_view::pg_catalog.text),
       coalesce(r.names[3], p.chunk_table::pg_catalog.text), coalesce(r.names[4], p.view::pg_catalog.text),
       p.key_columns, p.model, p.strategy, p.max_tokens, p.overlap,
       p.config, p.generation, p.mode, p.paused, p.stage, p.replaces,
       coalesce(p.name, o.name OPERATOR(pg_catalog.||) ' (generation ' OPERATOR(pg_catalog.||) p.generation OPERATOR(pg_catalog.||) ')'),
       p.chunk_options, p.contextual, p.late, p.context_llm IS NOT NULL
FROM rag.pipeline p
LEFT JOIN rag.pipeline o ON o.id OPERATOR(pg_catalog.=) p.replaces
CROSS JOIN LATERAL (
    SELECT pg_catalog.array_agg(pg_catalog.quote_ident(n.nspname) OPERATOR(pg_catalog.||) '.' OPERATOR(pg_catalog.||) pg_catalog.quote_ident(c.relname)
                                ORDER BY u.place) AS names
    FROM pg_catalog.unnest(ARRAY[p.source, p.content_view, p.chunk_table, p.view]::pg_catalog.oid[])
         WITH ORDINALITY AS u (oid, place)
    LEFT JOIN pg_catalog.pg_class c ON c.oid OPERATOR(pg_catalog.=) u.oid
    LEFT JOIN pg_catalog.pg_namespace n ON n.oid OPERATOR(pg_catalog.=) c.relnamespace) AS r
WHERE p.name OPERATOR(pg_catalog.=) $1 OR p.id OPERATOR(pg_catalog.=) $2
