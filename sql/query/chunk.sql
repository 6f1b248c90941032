-- The chunk table of a pipeline, read and written by workers.

-- name: documents_by_key
-- $1..: one text array a key column. The rows with these keys, as far as there are any. The
-- condition for each column is what keeps a volatile content from being computed for other rows.
SELECT ARRAY[{key_texts}], v.content, {title}
FROM ROWS FROM ({unnest_keys}) AS d ({key_names})
JOIN {content_view} AS v ON {view_match}
WHERE {view_keys_known}

-- name: known
-- $1..: one text array a key column. Vectors of these documents' chunks, by text.
SELECT DISTINCT ON (c.content_hash) c.content_hash, c.embedding::real[]
FROM {chunk_table} AS c
JOIN ROWS FROM ({unnest_keys}) AS d ({key_names}) ON {chunk_match}
WHERE c.model = {model}

-- name: lock
-- $1..: one text array a key column. Locks the chunks of these documents, once no other transaction is about to change
-- them; what they are named by elsewhere may go on.
SELECT c.chunk_id
FROM ROWS FROM ({unnest_keys}) AS d ({key_names})
JOIN {chunk_table} AS c ON {chunk_match}
ORDER BY c.chunk_id
FOR NO KEY UPDATE OF c

-- name: insert
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

-- name: forget_other
-- $1: document of each chunk that stays, $2: its number, $3: the hash of its text; then one text
-- array a key column. Chunks of these documents that are not among them.
DELETE FROM {chunk_table} AS c
USING ROWS FROM ({unnest_keys}) WITH ORDINALITY AS d ({key_names}, document)
WHERE {chunk_match}
  AND NOT EXISTS (
      SELECT FROM ROWS FROM (pg_catalog.unnest($1::integer[]), pg_catalog.unnest($2::integer[]),
                             pg_catalog.unnest($3::bytea[])) AS u (document, chunk_no, content_hash)
      WHERE u.document = d.document AND u.chunk_no = c.chunk_no
        AND u.content_hash = c.content_hash)

-- name: forget_gone
-- Chunks of rows that are in the source no more.
DELETE FROM {chunk_table} AS c
WHERE NOT EXISTS (SELECT FROM {source} AS s WHERE {key_join})

-- name: forget_gone_of_trees
-- As `forget_gone`; how many chunks those were, and which of them the first ones of their documents.
WITH gone AS (
    DELETE FROM {chunk_table} AS c
    WHERE NOT EXISTS (SELECT FROM {source} AS s WHERE {key_join})
    RETURNING c.chunk_id, c.chunk_no
)
SELECT pg_catalog.count(*), pg_catalog.array_agg(g.chunk_id) FILTER (WHERE g.chunk_no = 0) FROM gone AS g

-- name: first_chunks
-- $1..: one text array a key column. The first chunks of these documents.
SELECT c.chunk_id
FROM ROWS FROM ({unnest_keys}) AS d ({key_names})
JOIN {chunk_table} AS c ON {chunk_match}
WHERE c.chunk_no = 0

-- name: source_keys_all
-- The keys of all rows that have one, as text.
SELECT ARRAY[{keys}]::text[] FROM {source} AS s
WHERE NOT ({has_no_key})

-- name: source_keys_missing
-- The keys of rows without a chunk that have one, as text.
SELECT ARRAY[{keys}]::text[] FROM {source} AS s
WHERE NOT ({has_no_key}) AND NOT EXISTS (SELECT FROM {chunk_table} AS c WHERE {key_join})

-- name: source_keys_none
-- What there is of the keys of rows without one, as text. $1: how many of these rows are looked at.
SELECT DISTINCT k.key
FROM (SELECT ARRAY[{known_keys}]::text[] AS key FROM {source} AS s WHERE {has_no_key} LIMIT $1) AS k

-- name: nullable_keys
-- $1: the source, $2: the columns of its key, bare. A row for each that may be NULL. What a foreign table says of its columns
-- nobody checks.
WITH RECURSIVE part AS (
    SELECT $1::pg_catalog.oid AS relid
    UNION
    SELECT i.inhrelid FROM part AS p JOIN pg_catalog.pg_inherits AS i ON i.inhparent OPERATOR(pg_catalog.=) p.relid
)
SELECT a.attname
FROM part AS p
JOIN pg_catalog.pg_class AS c ON c.oid OPERATOR(pg_catalog.=) p.relid
JOIN pg_catalog.pg_attribute AS a
  ON a.attrelid OPERATOR(pg_catalog.=) c.oid AND a.attname OPERATOR(pg_catalog.=) ANY ($2::pg_catalog.name[])
WHERE c.relkind OPERATOR(pg_catalog.=) 'f' OR NOT a.attnotnull
   OR EXISTS (SELECT FROM pg_catalog.pg_constraint AS n
              WHERE n.conrelid OPERATOR(pg_catalog.=) c.oid AND n.contype OPERATOR(pg_catalog.=) 'n' AND NOT n.convalidated
                AND a.attnum OPERATOR(pg_catalog.=) ANY (n.conkey))

-- name: known_key
-- A column of a key as text, where it is not NULL.
CASE WHEN s.{column} IS NOT NULL THEN pg_catalog.format('%s', s.{column}) END

-- name: without_mentions
-- $1..: one text array a key column. Chunks of these documents that name nothing yet: the number of the
-- document, from 1, that of the chunk in it, and its key.
SELECT d.document, c.chunk_no, c.chunk_id
FROM ROWS FROM ({unnest_keys}) WITH ORDINALITY AS d ({key_names}, document)
JOIN {chunk_table} AS c ON {chunk_match}
WHERE NOT EXISTS (SELECT FROM {mentions} AS m WHERE m.chunk_id = c.chunk_id)

-- name: named
-- $1..: one text array a key column. Chunks of these documents that name something: the number of the document, from 1,
-- that of the chunk in it, and the hash of its text.
SELECT d.document, c.chunk_no, c.content_hash
FROM ROWS FROM ({unnest_keys}) WITH ORDINALITY AS d ({key_names}, document)
JOIN {chunk_table} AS c ON {chunk_match}
WHERE EXISTS (SELECT FROM {mentions} AS m WHERE m.chunk_id = c.chunk_id)

-- name: said
-- $1..: one text array a key column. What columns of these rows say: the first chunk of the row, the number of the
-- relation, the name of its subject and, of a row, what it is called by its key, and likewise of its object; NULL where they say
-- nothing.
SELECT c.chunk_id, r.place, r.subject, r.subject_row, r.object, r.object_row
FROM ROWS FROM ({unnest_keys}) AS d ({key_names})
JOIN {chunk_table} AS c ON {chunk_match}
JOIN {content_view} AS v ON {view_match}
LEFT JOIN LATERAL ({said}) AS r (place, subject, subject_row, object, object_row)
    ON coalesce(r.subject, r.subject_row) IS NOT NULL AND coalesce(r.object, r.object_row) IS NOT NULL
WHERE c.chunk_no = 0 AND {view_keys_known}
