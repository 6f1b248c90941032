-- Summaries and questions of chunks, which language models write.

-- name: insert
-- $1: the template; $2..$5: hash of the chunk's text, kind, number, text. They have no vectors yet.
INSERT INTO {representations} (content_hash, kind, no, template, content)
SELECT u.content_hash, u.kind, u.no, $1, u.content
FROM ROWS FROM (pg_catalog.unnest($2::bytea[]), pg_catalog.unnest($3::text[]),
                pg_catalog.unnest($4::integer[]), pg_catalog.unnest($5::text[]))
     AS u (content_hash, kind, no, content)
ON CONFLICT DO NOTHING

-- name: give_up
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

-- name: unembedded
-- Texts that describe chunks and have no vectors yet. $1: how many.
SELECT r.content_hash, r.kind, r.no, r.content
FROM {representations} AS r
WHERE r.content IS NOT NULL AND r.embedding IS NULL
ORDER BY r.content_hash, r.kind, r.no
LIMIT $1

-- name: embed
-- $1..$5: hash of the chunk's text, kind, number, text, and the vector of the text.
UPDATE {representations} AS r
SET embedding = u.embedding
FROM ROWS FROM (pg_catalog.unnest($1::bytea[]), pg_catalog.unnest($2::text[]),
                pg_catalog.unnest($3::integer[]), pg_catalog.unnest($4::text[]),
                pg_catalog.unnest($5::{vector}.vector[]))
     AS u (content_hash, kind, no, content, embedding)
WHERE r.content_hash = u.content_hash AND r.kind = u.kind AND r.no = u.no AND r.content = u.content

-- name: create_table
CREATE TABLE {table} (
    content_hash pg_catalog.bytea NOT NULL,
    kind         pg_catalog.text NOT NULL CHECK (kind OPERATOR(pg_catalog.=) ANY (ARRAY['summary', 'question', 'none']::pg_catalog.text[])),
    no           integer NOT NULL,
    template     pg_catalog.text NOT NULL,
    content      pg_catalog.text,
    embedding    {vector}.vector({dimension}),
    PRIMARY KEY (content_hash, kind, no),
    CHECK ((kind OPERATOR(pg_catalog.=) 'none') OPERATOR(pg_catalog.=) (content IS NULL)
           AND (content IS NOT NULL OR embedding IS NULL))
)

-- name: comment_table
COMMENT ON TABLE {table} IS 'summaries and questions of chunks, which a language model has written and by which the chunks are found, too';
COMMENT ON COLUMN {table}.content_hash IS 'content_hash of the chunks that it is about';
COMMENT ON COLUMN {table}.kind IS 'summary, question, or none: nothing of use was written';
COMMENT ON COLUMN {table}.no IS 'number of the text among those of its kind, from 1';
COMMENT ON COLUMN {table}.template IS 'template in which the language model was asked, with its version';
COMMENT ON COLUMN {table}.content IS 'what was written; NULL where kind is none';
COMMENT ON COLUMN {table}.embedding IS 'vector of content by the embedding model of the pipeline; NULL until it is embedded, and where kind is none'
