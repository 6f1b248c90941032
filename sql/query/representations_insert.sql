-- $1: the template; $2..$6: hash of the chunk's text, kind, number, text, vector.
INSERT INTO {representations} (content_hash, kind, no, template, content, embedding)
SELECT u.content_hash, u.kind, u.no, $1, u.content, u.embedding
FROM ROWS FROM (pg_catalog.unnest($2::bytea[]), pg_catalog.unnest($3::text[]),
                pg_catalog.unnest($4::integer[]), pg_catalog.unnest($5::text[]),
                pg_catalog.unnest($6::{vector}.vector[]))
     AS u (content_hash, kind, no, content, embedding)
ON CONFLICT DO NOTHING
