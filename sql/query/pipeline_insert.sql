INSERT INTO rag.pipeline (name, source, content_view, chunk_table, view, key_columns, model,
                          strategy, max_tokens, overlap, chunk_options, contextual, config, mode, stage,
                          generation, replaces, late)
VALUES ($1, $2::oid::regclass, $3::text::regclass, $4::text::regclass, $5::text::regclass, $6, $7,
        $8, $9, $10, $11, $12, $13, $14, $15, $16, $17, $18)
RETURNING id
