-- $1: places, $2: what has been said of them; $3, $4: hash and vector of the chunks there with it.
UPDATE {chunk_table} AS c
SET context_line = u.line, content_hash = u.content_hash, embedding = u.embedding
FROM ROWS FROM (pg_catalog.unnest($1::bytea[]), pg_catalog.unnest($2::text[]),
                pg_catalog.unnest($3::bytea[]), pg_catalog.unnest($4::{vector}.vector[]))
     AS u (context_key, line, content_hash, embedding)
WHERE c.context_key = u.context_key AND c.context_line IS DISTINCT FROM u.line
