-- Lines of context of chunks, which language models write.

-- name: around
-- The chunks of a document that are read to say where one of them stands. $1: the chunk, $2:
-- characters of the beginning, $3: characters before and after it.
SELECT n.chunk_id = c.chunk_id, n.start_char, n.end_char, n.content
FROM {chunk_table} AS c
JOIN {chunk_table} AS n ON {same_document}
WHERE c.chunk_id = $1
  AND (n.start_char < $2 OR n.end_char > c.start_char - $3 AND n.start_char < c.end_char + $3)
ORDER BY n.start_char, n.end_char

-- name: forget_gone
-- What was said of places where no chunk is any more.
DELETE FROM {lines} AS l
WHERE NOT EXISTS (SELECT FROM {chunk_table} AS c WHERE c.context_key = l.context_key)

-- name: inherit
-- What has been said for the old generation of the chunks.
INSERT INTO {lines} (context_key, template, llm, line)
SELECT context_key, template, llm, line FROM {old}

-- name: known
-- $1: places. What has been said of them.
SELECT context_key, line FROM {lines} WHERE context_key = ANY ($1) AND line IS NOT NULL

-- name: missing
-- Places that have no line yet in this template by this language model. $1: the template, $2: the language
-- model, $3: the last place that is known to have one, $4: how many.
SELECT DISTINCT ON (c.context_key) c.context_key, c.chunk_id, c.context, c.content
FROM {chunk_table} AS c
WHERE c.context_key IS NOT NULL
  AND c.context_key > $3
  AND NOT EXISTS (SELECT FROM {lines} AS l
                  WHERE l.context_key = c.context_key AND l.template = $1 AND l.llm = $2)
ORDER BY c.context_key
LIMIT $4

-- name: count_missing
-- How many places there are as in `missing`. $1: the template, $2: the language model, $3: how many are
-- counted at most.
SELECT pg_catalog.count(*)
FROM (SELECT DISTINCT c.context_key
      FROM {chunk_table} AS c
      WHERE c.context_key IS NOT NULL
        AND NOT EXISTS (SELECT FROM {lines} AS l
                        WHERE l.context_key = c.context_key AND l.template = $1 AND l.llm = $2)
      LIMIT $3) AS missing

-- name: put
-- $1: the template, $2: the language model, $3: places, $4: what it says of them.
INSERT INTO {lines} AS l (context_key, template, llm, line)
SELECT u.context_key, $1, $2, u.line
FROM ROWS FROM (pg_catalog.unnest($3::bytea[]), pg_catalog.unnest($4::text[])) AS u (context_key, line)
ON CONFLICT (context_key) DO UPDATE
SET (template, llm, line) = ROW(EXCLUDED.template, EXCLUDED.llm, EXCLUDED.line)

-- name: unused
-- Places whose chunks do not know yet what has been said of them. $1: how many.
SELECT DISTINCT ON (c.context_key) c.context_key, c.context, c.content, l.line
FROM {chunk_table} AS c
JOIN {lines} AS l ON l.context_key = c.context_key
WHERE c.context_line IS DISTINCT FROM l.line
ORDER BY c.context_key
LIMIT $1

-- name: use
-- $1: places, $2: what has been said of them; $3, $4: hash and vector of the chunks there with it.
UPDATE {chunk_table} AS c
SET context_line = u.line, content_hash = u.content_hash, embedding = u.embedding
FROM ROWS FROM (pg_catalog.unnest($1::bytea[]), pg_catalog.unnest($2::text[]),
                pg_catalog.unnest($3::bytea[]), pg_catalog.unnest($4::{vector}.vector[]))
     AS u (context_key, line, content_hash, embedding)
WHERE c.context_key = u.context_key AND c.context_line IS DISTINCT FROM u.line
RETURNING c.chunk_id

-- name: create_table
CREATE TABLE {table} (
    context_key pg_catalog.bytea PRIMARY KEY,
    template    pg_catalog.text NOT NULL,
    llm         pg_catalog.text NOT NULL,
    line        pg_catalog.text
)

-- name: comment_table
COMMENT ON TABLE {table} IS 'lines in which a language model says in which connection chunks stand';
COMMENT ON COLUMN {table}.context_key IS 'context_key of the chunk that it is about';
COMMENT ON COLUMN {table}.template IS 'template in which the language model was asked, with its version';
COMMENT ON COLUMN {table}.llm IS 'language model: foreign server and model';
COMMENT ON COLUMN {table}.line IS 'what it says, up to 256 bytes; NULL if nothing of use'

-- name: create_index
CREATE INDEX {name} ON {chunk_table} (context_key)
