-- Forgets texts that nobody embeds. That the chunk has been described stays known.
-- $1..$3: hash of the chunk's text, kind, number.
WITH gone AS (
    DELETE FROM {representations} AS r
    USING ROWS FROM (pg_catalog.unnest($1::bytea[]), pg_catalog.unnest($2::text[]),
                     pg_catalog.unnest($3::integer[])) AS u (content_hash, kind, no)
    WHERE r.content_hash = u.content_hash AND r.kind = u.kind AND r.no = u.no AND r.embedding IS NULL
    RETURNING r.content_hash, r.template
)
INSERT INTO {representations} (content_hash, kind, no, template)
SELECT DISTINCT gone.content_hash, 'none', 1, gone.template
FROM gone
ON CONFLICT DO NOTHING
