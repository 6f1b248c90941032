-- $1..$5: hash of the chunk's text, kind, number, text, and the vector of the text.
UPDATE {representations} AS r
SET embedding = u.embedding
FROM ROWS FROM (pg_catalog.unnest($1::bytea[]), pg_catalog.unnest($2::text[]),
                pg_catalog.unnest($3::integer[]), pg_catalog.unnest($4::text[]),
                pg_catalog.unnest($5::{vector}.vector[]))
     AS u (content_hash, kind, no, content, embedding)
WHERE r.content_hash = u.content_hash AND r.kind = u.kind AND r.no = u.no AND r.content = u.content
