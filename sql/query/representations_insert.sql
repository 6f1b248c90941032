-- $1: the template; $2..$5: hash of the chunk's text, kind, number, text. They have no vectors yet.
INSERT INTO {representations} (content_hash, kind, no, template, content)
SELECT u.content_hash, u.kind, u.no, $1, u.content
FROM ROWS FROM (pg_catalog.unnest($2::bytea[]), pg_catalog.unnest($3::text[]),
                pg_catalog.unnest($4::integer[]), pg_catalog.unnest($5::text[]))
     AS u (content_hash, kind, no, content)
ON CONFLICT DO NOTHING
