INSERT INTO rag.pipeline (name, source, content_view, chunk_table, view, key_columns, model,
                          strategy, max_tokens, overlap, config, mode, stage, generation, replaces)
VALUES ($1, $2::oid::regclass, $3::text::regclass, $4::text::regclass, $5::text::regclass, $6, $7,
        $8, $9, $10, $11, $12, $13, $14, $15)
RETURNING id
