-- Trees: runs of neighbouring chunks, and what sums them up. A node is known by the hash of the hashes of its
-- chunks, so the root of a document by that of all of them.

-- name: create_table
CREATE TABLE {table} (
    node_hash   pg_catalog.bytea PRIMARY KEY,
    level       integer NOT NULL,
    leaves      pg_catalog.bytea[] NOT NULL,
    children    pg_catalog.bytea[] NOT NULL,
    content     pg_catalog.text,
    span_leaves integer[] NOT NULL,
    span_starts integer[] NOT NULL,
    span_ends   integer[] NOT NULL,
    searched    boolean NOT NULL,
    template    pg_catalog.text,
    llm         pg_catalog.text,
    written     boolean NOT NULL,
    is_root     boolean NOT NULL,
    embedding   {vector}.vector({dimension}),
    documents   integer NOT NULL
)

-- name: comment_table
COMMENT ON TABLE {table} IS 'summaries of neighbouring chunks, of neighbouring summaries, and so on up to one of each document, or of all of them';
COMMENT ON COLUMN {table}.node_hash IS 'SHA-256 of the leaves one after the other; that of all chunks of a document is its root. Over several documents, SHA-256 of the roots of these';
COMMENT ON COLUMN {table}.level IS '1: a summary of chunks; 2: of such summaries, and so on';
COMMENT ON COLUMN {table}.leaves IS 'content_hash of the chunks that it covers, in their order in the document, and document after document';
COMMENT ON COLUMN {table}.children IS 'content_hash of the chunks, or node_hash of the summaries, that it was made of';
COMMENT ON COLUMN {table}.content IS 'the summary: sentences of the chunks, or what a language model has written of them; NULL where they have no sentence';
COMMENT ON COLUMN {table}.span_leaves IS 'of each sentence that stands for the chunks, which is quoted where no language model writes, the place in leaves of the chunk that it stands in, from 1';
COMMENT ON COLUMN {table}.span_starts IS 'of each sentence, its first character in the content of that chunk, counted from 0';
COMMENT ON COLUMN {table}.span_ends IS 'of each sentence, one past its last character in the content of that chunk';
COMMENT ON COLUMN {table}.searched IS 'whether answers may read it; not where it covers one chunk, which says the same, or no model embeds it';
COMMENT ON COLUMN {table}.template IS 'template in which a language model was to sum up, with its version; NULL where it is done by quoting';
COMMENT ON COLUMN {table}.llm IS 'foreign server and model that were to sum up; NULL where it is done by quoting';
COMMENT ON COLUMN {table}.written IS 'whether content is what the language model has written; not where it refused, or the node covers one chunk';
COMMENT ON COLUMN {table}.is_root IS 'whether it covers all chunks of a document, or all documents';
COMMENT ON COLUMN {table}.embedding IS 'vector of content by the embedding model of the pipeline; NULL until it is embedded, and where it is not searched';
COMMENT ON COLUMN {table}.documents IS 'documents that it covers; 1 where it covers one, or a part of it'

-- name: create_indexes
-- By which the parents of a node are found, and what is to be embedded.
CREATE INDEX ON {tree} USING gin (children) WHERE level OPERATOR(pg_catalog.>) 1;
CREATE INDEX ON {tree} (node_hash) WHERE searched AND embedding IS NULL

-- name: first_chunks
-- The first chunks of all documents.
SELECT c.chunk_id FROM {chunk_table} AS c WHERE c.chunk_no = 0

-- name: first_chunks_of
-- The first chunks of some documents. $1: chunks of these.
SELECT DISTINCT n.chunk_id
FROM {chunk_table} AS c
JOIN {chunk_table} AS n ON {same_document}
WHERE c.chunk_id OPERATOR(pg_catalog.=) ANY ($1) AND n.chunk_no OPERATOR(pg_catalog.=) 0

-- name: nodes
-- $1: hash of a node, $2: how many nodes behind it.
SELECT t.node_hash FROM {tree} AS t WHERE t.node_hash > $1 ORDER BY t.node_hash LIMIT $2

-- name: set_roots
-- $1: hashes of nodes, $2: whether they are roots.
UPDATE {tree} AS t SET is_root = $2 WHERE t.node_hash = ANY ($1) AND t.is_root <> $2

-- name: sweep
-- $1: hashes of nodes that are no roots. Deletes those that have no parent either; the nodes that they were made of.
WITH gone AS (
    DELETE FROM {tree} AS t
    WHERE t.node_hash = ANY ($1)
      AND NOT EXISTS (SELECT FROM {tree} AS p WHERE p.level > 1 AND p.children @> ARRAY[t.node_hash])
    RETURNING t.level, t.children
)
SELECT DISTINCT child.hash
FROM gone AS g
CROSS JOIN LATERAL pg_catalog.unnest(g.children) AS child (hash)
WHERE g.level > 1

-- name: lengths
-- How many documents there are with so many chunks. $1: chunks of the longest document that has a tree.
SELECT d.chunks, pg_catalog.count(*)
FROM (SELECT pg_catalog.count(*) AS chunks FROM {chunk_table} AS c GROUP BY {keys}) AS d
WHERE d.chunks OPERATOR(pg_catalog.<=) $1
GROUP BY d.chunks

-- name: leaves
-- The chunks of a document, in order. $1: the first of them, $2: how many at most.
SELECT n.content_hash, n.embedding::real[]
FROM {chunk_table} AS c
JOIN {chunk_table} AS n ON {same_document}
WHERE c.chunk_id = $1 AND c.chunk_no = 0
ORDER BY n.chunk_no
LIMIT $2

-- name: chunks
-- How many chunks there are in all, as far as $1.
SELECT pg_catalog.count(*) FROM (SELECT FROM {chunk_table} LIMIT $1) AS c

-- name: documents
-- The documents of a corpus: hash of the key, root, level of that, chunks one after the other, vector, and whether that is still
-- to come. One of a single chunk has the vector of this. $1: first chunks of documents, $2: the roots of their trees.
SELECT pg_catalog.sha256(pg_catalog.convert_to(ARRAY[{key_texts}]::text, 'UTF8')), t.node_hash, t.level,
       (SELECT pg_catalog.string_agg(l.hash, ''::bytea ORDER BY l.no) FROM pg_catalog.unnest(t.leaves) WITH ORDINALITY AS l (hash, no)),
       coalesce(t.embedding::real[], CASE WHEN pg_catalog.cardinality(t.leaves) = 1 THEN c.embedding::real[] END),
       t.searched AND t.embedding IS NULL
FROM ROWS FROM (pg_catalog.unnest($1::bigint[]), pg_catalog.unnest($2::bytea[])) AS u (first_chunk, root)
JOIN {chunk_table} AS c ON c.chunk_id = u.first_chunk
JOIN {tree} AS t ON t.node_hash = u.root
ORDER BY u.first_chunk

-- name: known
-- Which of some nodes are there. $1: their hashes.
SELECT t.node_hash FROM {tree} AS t WHERE t.node_hash = ANY ($1)

-- name: made
-- Which of some nodes are there, made in this way. $1: their hashes, $2, $3: template and language model, or NULL.
SELECT t.node_hash
FROM {tree} AS t
WHERE t.node_hash = ANY ($1) AND t.template IS NOT DISTINCT FROM $2::text AND t.llm IS NOT DISTINCT FROM $3::text

-- name: summaries
-- What nodes say. $1: their hashes.
SELECT t.node_hash, t.content
FROM {tree} AS t
WHERE t.node_hash = ANY ($1) AND t.content IS NOT NULL

-- name: contents
-- The texts of chunks, and their headings, as in `missing_texts` of derivation.sql. $1: hashes, $2: the source.
SELECT DISTINCT ON (c.content_hash) c.content_hash, c.content,
       CASE WHEN (SELECT s.relrowsecurity FROM pg_catalog.pg_class AS s WHERE s.oid = $2) THEN c.context ELSE c.heading END
FROM {chunk_table} AS c
WHERE c.content_hash = ANY ($1)
ORDER BY c.content_hash, c.chunk_id

-- name: fenced
-- The chunks of a document, in order: hash, first character, and the text of those that have fences of code. $1: the first
-- of them.
SELECT n.content_hash, n.start_char, CASE WHEN n.content ~ '```|~~~' THEN n.content END
FROM {chunk_table} AS c
JOIN {chunk_table} AS n ON {same_document}
WHERE c.chunk_id = $1 AND c.chunk_no = 0
ORDER BY n.chunk_no

-- name: sentences
-- What summaries quote: the node, the place of the chunk in its leaves, from 1, where the sentence stands in that
-- chunk, and the sentence. $1: hashes of nodes.
SELECT t.node_hash, u.leaf, u.start_char, u.end_char, pg_catalog.substr(c.content, u.start_char + 1, u.end_char - u.start_char)
FROM {tree} AS t
CROSS JOIN LATERAL ROWS FROM (pg_catalog.unnest(t.span_leaves), pg_catalog.unnest(t.span_starts),
                              pg_catalog.unnest(t.span_ends)) WITH ORDINALITY AS u (leaf, start_char, end_char, no)
CROSS JOIN LATERAL (SELECT c.content FROM {chunk_table} AS c
                    WHERE c.content_hash = t.leaves[u.leaf]
                    ORDER BY c.chunk_id LIMIT 1) AS c
WHERE t.node_hash = ANY ($1)
ORDER BY t.node_hash, u.no

-- name: insert
-- $1: hash, $2: level, $3: hashes of its chunks, $4: of its children, $5: the summary; of each of its sentences, $6: the
-- place of its chunk in $3, from 1, $7: first character, $8: one past the last; $9: whether it is searched, $10, $11: template and language model, or NULL,
-- $12: whether that has written $5, $13: whether it covers a whole document, $14: how many documents it covers. A node that
-- was made in another way is replaced.
INSERT INTO {tree} AS t (node_hash, level, leaves, children, content, span_leaves, span_starts, span_ends, searched,
                         template, llm, written, is_root, documents)
VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13, $14)
ON CONFLICT (node_hash) DO UPDATE
SET (level, children, content, span_leaves, span_starts, span_ends, searched, template, llm, written, embedding)
  = ROW(EXCLUDED.level, EXCLUDED.children, EXCLUDED.content, EXCLUDED.span_leaves, EXCLUDED.span_starts, EXCLUDED.span_ends,
        EXCLUDED.searched, EXCLUDED.template, EXCLUDED.llm, EXCLUDED.written, NULL)
WHERE t.template IS DISTINCT FROM EXCLUDED.template OR t.llm IS DISTINCT FROM EXCLUDED.llm

-- name: children_of
-- What nodes are made of that a summary in another way is to replace. $1: their hashes.
SELECT child.hash
FROM {tree} AS t
CROSS JOIN LATERAL pg_catalog.unnest(t.children) AS child (hash)
WHERE t.node_hash = ANY ($1) AND t.level > 1

-- name: inherit
-- What a language model has written for the pipeline whose place this one takes is not paid for again.
INSERT INTO {tree} (node_hash, level, leaves, children, content, span_leaves, span_starts, span_ends, searched, template, llm, written, is_root, documents)
SELECT o.node_hash, o.level, o.leaves, o.children, o.content, o.span_leaves, o.span_starts, o.span_ends,
       o.content IS NOT NULL AND pg_catalog.cardinality(o.leaves) OPERATOR(pg_catalog.>) 1, o.template, o.llm, o.written, false, o.documents
FROM {old} AS o
WHERE o.template IS NOT NULL
ON CONFLICT DO NOTHING

-- name: forget_written
-- What is to be quoted from now on, which costs nothing.
DELETE FROM {tree} WHERE template IS NOT NULL

-- name: unembedded
-- Summaries that are to be searched and have no vectors yet. $1: how many.
SELECT t.node_hash, t.content
FROM {tree} AS t
WHERE t.searched AND t.embedding IS NULL
ORDER BY t.node_hash
LIMIT $1

-- name: embed
-- $1..$3: hashes of nodes, their summaries, and the vectors of these. One without a vector is searched no more.
UPDATE {tree} AS t
SET embedding = u.embedding, searched = u.embedding IS NOT NULL
FROM ROWS FROM (pg_catalog.unnest($1::bytea[]), pg_catalog.unnest($2::text[]), pg_catalog.unnest($3::{vector}.vector[]))
     AS u (node_hash, content, embedding)
WHERE t.node_hash = u.node_hash AND t.content = u.content

-- name: seen
-- A condition: the caller sees each leaf of the node `t`, and the filter lets each pass.
NOT EXISTS (SELECT FROM pg_catalog.unnest(t.leaves) AS leaf (hash)
            WHERE NOT EXISTS (SELECT FROM {chunk_table} AS c
                              JOIN {view} AS v ON v.chunk_id OPERATOR(pg_catalog.=) c.chunk_id
                              WHERE c.content_hash OPERATOR(pg_catalog.=) leaf.hash AND {filter}))

-- name: above_found
-- Summaries of what has the most of the chunks that a question has found, of which the caller sees each leaf and the filter
-- lets each pass: node, summary, cosine similarity, and how many documents it covers. A chunk counts by its rank, as in
-- reciprocal rank fusion. Who covers all documents has all of them: of summaries of several documents the smallest is read
-- that has half of what was found, unless a smaller one of a document has as much.
-- $1: the question's vector, $2: how many, $3: the filter's values, $4: the chunks, best first, $5: roots of their documents,
-- $6: the root of the corpus, without which nothing is above these.
WITH RECURSIVE found AS MATERIALIZED (
    SELECT c.content_hash AS hash, pg_catalog.sum(1.0 OPERATOR(pg_catalog./) (60 OPERATOR(pg_catalog.+) f.rank)) AS mass
    FROM pg_catalog.unnest($4::pg_catalog.int8[]) WITH ORDINALITY AS f (chunk_id, rank)
    JOIN {chunk_table} AS c ON c.chunk_id OPERATOR(pg_catalog.=) f.chunk_id
    GROUP BY c.content_hash
), reached AS (
    SELECT t.node_hash, t.level, t.children, t.leaves
    FROM {tree} AS t
    WHERE t.node_hash OPERATOR(pg_catalog.=) ANY ($5::pg_catalog.bytea[])
    UNION
    SELECT t.node_hash, t.level, t.children, t.leaves
    FROM reached AS r
    CROSS JOIN LATERAL pg_catalog.unnest(r.children) AS child (hash)
    JOIN {tree} AS t ON t.node_hash OPERATOR(pg_catalog.=) child.hash
    WHERE r.level OPERATOR(pg_catalog.>) 1
      AND t.leaves OPERATOR(pg_catalog.&&) ARRAY(SELECT f.hash FROM found AS f)
), above AS (
    SELECT u.node_hash FROM pg_catalog.unnest($5::pg_catalog.bytea[]) AS u (node_hash)
    WHERE pg_catalog.cardinality($6::pg_catalog.bytea[]) OPERATOR(pg_catalog.>) 0
    UNION
    SELECT t.node_hash
    FROM above AS a
    JOIN {tree} AS t ON t.level OPERATOR(pg_catalog.>) 1 AND t.children OPERATOR(pg_catalog.@>) ARRAY[a.node_hash]
    WHERE t.documents OPERATOR(pg_catalog.>) 1
), node AS MATERIALIZED (
    SELECT n.node_hash, n.documents, pg_catalog.cardinality(n.leaves) AS leaves,
           (SELECT pg_catalog.sum(f.mass) FROM found AS f WHERE f.hash OPERATOR(pg_catalog.=) ANY (n.leaves)) AS mass
    FROM (SELECT r.node_hash, 1 AS documents, r.leaves FROM reached AS r
          UNION ALL
          SELECT t.node_hash, t.documents, t.leaves
          FROM above AS a
          JOIN {tree} AS t ON t.node_hash OPERATOR(pg_catalog.=) a.node_hash
          WHERE t.documents OPERATOR(pg_catalog.>) 1) AS n
), subject AS (
    SELECT n.node_hash
    FROM node AS n
    WHERE n.mass OPERATOR(pg_catalog.*) 2 OPERATOR(pg_catalog.>=) (SELECT pg_catalog.sum(f.mass) FROM found AS f)
    ORDER BY n.leaves, n.documents, n.node_hash
    LIMIT 1
)
SELECT t.node_hash, t.content, 1 OPERATOR(pg_catalog.-) (t.embedding OPERATOR({vector}.<=>) $1) AS similarity, t.documents
FROM node AS n
JOIN {tree} AS t ON t.node_hash OPERATOR(pg_catalog.=) n.node_hash
WHERE t.embedding IS NOT NULL
  AND (n.documents OPERATOR(pg_catalog.=) 1 OR n.node_hash OPERATOR(pg_catalog.=) (SELECT s.node_hash FROM subject AS s))
  AND {seen}
ORDER BY n.mass DESC, t.level DESC, t.node_hash
LIMIT $2

-- name: nearest_below
-- As `above_found`, but those that are nearest to the question, from the roots down: of the roots, and then of the children of
-- those that were kept, the nearest are kept. The root of the corpus is the only one where the caller sees it.
-- $4: how many of a level, $5: the root of the corpus.
--
-- The similarity of a vector without direction is NaN, which is above all numbers: so the order is by its negative.
WITH RECURSIVE corpus AS MATERIALIZED (
    SELECT t.node_hash, t.level, t.children, t.content, 1 OPERATOR(pg_catalog.-) (t.embedding OPERATOR({vector}.<=>) $1) AS similarity, t.documents
    FROM {tree} AS t
    WHERE t.node_hash OPERATOR(pg_catalog.=) ANY ($5::pg_catalog.bytea[]) AND t.embedding IS NOT NULL AND {seen}
), reached AS (
    (SELECT k.node_hash, k.level, k.children, k.content, k.similarity, k.documents
     FROM corpus AS k
     UNION ALL
     (SELECT t.node_hash, t.level, t.children, t.content, 1 OPERATOR(pg_catalog.-) (t.embedding OPERATOR({vector}.<=>) $1), t.documents
      FROM {tree} AS t
      WHERE t.is_root AND t.documents OPERATOR(pg_catalog.=) 1 AND t.embedding IS NOT NULL AND {seen}
        AND NOT EXISTS (SELECT FROM corpus)
      ORDER BY t.embedding OPERATOR({vector}.<=>) $1
      LIMIT $4))
    UNION
    (SELECT b.node_hash, b.level, b.children, b.content, b.similarity, b.documents
     FROM (SELECT DISTINCT ON (t.node_hash) t.node_hash, t.level, t.children, t.content, t.documents,
                  1 OPERATOR(pg_catalog.-) (t.embedding OPERATOR({vector}.<=>) $1) AS similarity
           FROM reached AS r
           CROSS JOIN LATERAL pg_catalog.unnest(r.children) AS child (hash)
           JOIN {tree} AS t ON t.node_hash OPERATOR(pg_catalog.=) child.hash
           WHERE r.level OPERATOR(pg_catalog.>) 1 AND t.embedding IS NOT NULL AND {seen}) AS b
     ORDER BY OPERATOR(pg_catalog.-) b.similarity, b.node_hash
     LIMIT $4)
)
SELECT r.node_hash, r.content, r.similarity, r.documents
FROM reached AS r
ORDER BY OPERATOR(pg_catalog.-) r.similarity, r.node_hash
LIMIT $2

-- name: by_hash
-- As `above_found`, but some nodes, also those that no search finds, whose similarity may be NULL.
-- $1: the question's vector, $2: hashes of nodes, $3: the filter's values.
SELECT t.node_hash, t.content, 1 OPERATOR(pg_catalog.-) (t.embedding OPERATOR({vector}.<=>) $1) AS similarity, t.documents
FROM {tree} AS t
WHERE t.node_hash OPERATOR(pg_catalog.=) ANY ($2) AND t.content IS NOT NULL AND {seen}
ORDER BY t.node_hash

-- name: named
-- The first chunks of rows that have one of some keys. A parameter for each column: its values.
SELECT c.chunk_id
FROM {chunk_table} AS c
WHERE {is_named} AND c.chunk_no OPERATOR(pg_catalog.=) 0
ORDER BY c.chunk_id
LIMIT 3

-- name: named_column
-- A condition: the column of the chunk `c` has one of the values in the parameter {n}.
c.{key} OPERATOR(pg_catalog.=) ANY (${n})

-- name: section
-- The chunks of the row of a chunk that stand under a heading, in order, and whether all of its chunks do, of those that the
-- caller sees and the filter lets pass. $1: the chunk, $2: the path of the heading, or nothing, under which all stand, $3: the
-- filter's values, $4: how many at most.
SELECT s.chunk_id, s.is_whole
FROM (SELECT v.chunk_id, v.chunk_no, u.is_under, pg_catalog.bool_and(u.is_under) OVER () AS is_whole
      FROM {view} AS h
      JOIN {view} AS v ON {same_row}
      CROSS JOIN LATERAL (SELECT coalesce($2 OPERATOR(pg_catalog.=) '' OR v.heading OPERATOR(pg_catalog.=) $2
                                          OR pg_catalog.starts_with(v.heading, $2 OPERATOR(pg_catalog.||) ' > '), false) AS is_under) AS u
      WHERE h.chunk_id OPERATOR(pg_catalog.=) $1 AND {filter}) AS s
WHERE s.is_under
ORDER BY s.chunk_no
LIMIT $4

-- name: quoted
-- The chunks that summaries quote, each with the nearest to the question first: node, row, chunk, its number, where it
-- stands, its text, and of its sentences the places among those of the summary, the first characters and those behind the
-- last. $1: the question's vector, $2: hashes of nodes, $3: the filter's values.
SELECT t.node_hash, v.source_key, v.chunk_id, v.chunk_no, v.start_char, v.end_char, v.content, q.numbers, q.starts, q.ends
FROM {tree} AS t
CROSS JOIN LATERAL (
    SELECT s.hash, pg_catalog.array_agg(s.no ORDER BY s.no) AS numbers, pg_catalog.array_agg(s.start_char ORDER BY s.no) AS starts,
           pg_catalog.array_agg(s.end_char ORDER BY s.no) AS ends
    FROM (SELECT t.leaves[u.leaf] AS hash, u.start_char, u.end_char, u.no
          FROM ROWS FROM (pg_catalog.unnest(t.span_leaves), pg_catalog.unnest(t.span_starts),
                          pg_catalog.unnest(t.span_ends)) WITH ORDINALITY AS u (leaf, start_char, end_char, no)) AS s
    GROUP BY s.hash) AS q
CROSS JOIN LATERAL (
    SELECT {source_key} AS source_key, v.chunk_id, v.chunk_no, v.start_char, v.end_char, v.content,
           v.embedding OPERATOR({vector}.<=>) $1 AS distance
    FROM {chunk_table} AS c
    JOIN {view} AS v ON v.chunk_id OPERATOR(pg_catalog.=) c.chunk_id
    WHERE c.content_hash OPERATOR(pg_catalog.=) q.hash AND {filter}
    ORDER BY v.chunk_id
    LIMIT 1) AS v
WHERE t.node_hash OPERATOR(pg_catalog.=) ANY ($2)
ORDER BY v.distance, v.chunk_id

-- name: of_document
-- What a language model has written of a document, with the number 0, and the sentences that sum it up, in order: number,
-- sentence, chunk and its number, and where the sentence stands in the document. $1: the row's key, one text a column.
WITH root AS (
    SELECT t.leaves, t.content, t.span_leaves, t.span_starts, t.span_ends, t.written
    FROM (SELECT pg_catalog.sha256(pg_catalog.string_agg(c.content_hash, ''::pg_catalog.bytea ORDER BY v.chunk_no)) AS root
          FROM {chunk_table} AS c
          JOIN {view} AS v ON v.chunk_id OPERATOR(pg_catalog.=) c.chunk_id
          WHERE {is_asked}) AS d
    JOIN {tree} AS t ON t.node_hash OPERATOR(pg_catalog.=) d.root
)
SELECT 0::pg_catalog.int8 AS no, t.content, NULL::pg_catalog.int8, NULL::pg_catalog.int4, NULL::pg_catalog.int4, NULL::pg_catalog.int4
FROM root AS t
WHERE t.written
UNION ALL
SELECT u.no, pg_catalog.substr(v.content, u.start_char OPERATOR(pg_catalog.+) 1, u.end_char OPERATOR(pg_catalog.-) u.start_char),
       v.chunk_id, v.chunk_no, v.start_char OPERATOR(pg_catalog.+) u.start_char, v.start_char OPERATOR(pg_catalog.+) u.end_char
FROM root AS t
CROSS JOIN LATERAL ROWS FROM (pg_catalog.unnest(t.span_leaves), pg_catalog.unnest(t.span_starts),
                              pg_catalog.unnest(t.span_ends)) WITH ORDINALITY AS u (leaf, start_char, end_char, no)
CROSS JOIN LATERAL (
    SELECT v.content, v.chunk_id, v.chunk_no, v.start_char
    FROM {chunk_table} AS c
    JOIN {view} AS v ON v.chunk_id OPERATOR(pg_catalog.=) c.chunk_id
    WHERE c.content_hash OPERATOR(pg_catalog.=) t.leaves[u.leaf] AND {is_asked}
    ORDER BY v.chunk_no
    LIMIT 1) AS v
ORDER BY no

-- name: given_key
($1::pg_catalog.text[])[{n}]::{type}
