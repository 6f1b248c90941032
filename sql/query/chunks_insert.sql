-- $1: document of each chunk; $2..$14: the chunks; then one text array a key column. A chunk that
-- is there already has the same text: what is around it may have changed.
INSERT INTO {chunk_table} AS c ({key_names}, chunk_no, content, start_char, end_char, heading,
                                parent_start, parent_end, context, context_line, context_key, token_count,
                                content_hash, model, embedding{metadata_names})
SELECT {view_keys}, u.chunk_no, u.content, u.start_char, u.end_char, u.heading,
       u.parent_start, u.parent_end, u.context, u.context_line, u.context_key, u.token_count,
       u.content_hash, {model}, u.embedding{metadata}
FROM ROWS FROM (pg_catalog.unnest($1::integer[]), pg_catalog.unnest($2::integer[]),
                pg_catalog.unnest($3::text[]), pg_catalog.unnest($4::integer[]),
                pg_catalog.unnest($5::integer[]), pg_catalog.unnest($6::text[]),
                pg_catalog.unnest($7::integer[]), pg_catalog.unnest($8::integer[]),
                pg_catalog.unnest($9::text[]), pg_catalog.unnest($10::text[]),
                pg_catalog.unnest($11::bytea[]), pg_catalog.unnest($12::integer[]),
                pg_catalog.unnest($13::bytea[]), pg_catalog.unnest($14::{vector}.vector[]))
     AS u (document, chunk_no, content, start_char, end_char, heading, parent_start, parent_end,
           context, context_line, context_key, token_count, content_hash, embedding)
JOIN ROWS FROM ({unnest_keys}) WITH ORDINALITY AS d ({key_names}, document)
  ON d.document = u.document
JOIN {content_view} AS v ON {view_match}
WHERE {view_keys_known}
ON CONFLICT ({key_names}, chunk_no) DO UPDATE
SET ({around}) = ROW({new_around})
WHERE pg_catalog.record_image_ne(ROW({old_around}), ROW({new_around}))
