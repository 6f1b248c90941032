-- Candidates, passages and what is around them; and parts of these statements.

-- name: dense
-- The nearest vectors: chunk, cosine similarity, how well the words match, and the words themselves
-- where they are wanted. $1: the question's vector, $2: its words as a tsquery, $3: the filter's
-- values, $4: how many, $5: the index of the words.
--
-- The scan may find a row late and out of order: so the order is by a sum, which no index promises.
SELECT d.chunk_id, 1 OPERATOR(pg_catalog.-) d.distance AS similarity, {score} AS score, {words} AS words
FROM (SELECT v.chunk_id, v.tsv, v.embedding OPERATOR({vector}.<=>) $1 AS distance
      FROM {view} AS v
      WHERE {filter}
      ORDER BY v.embedding OPERATOR({vector}.<=>) $1
      LIMIT $4) AS d
ORDER BY d.distance OPERATOR(pg_catalog.+) 0::pg_catalog.float8, d.chunk_id

-- name: lexical
-- The texts that hold most of the words: chunk, cosine similarity, how well the words match, the words.
-- Parameters as in `dense`. The order is that of the index rag_bm25.
--
-- Of texts with equal scores the first come, however many are wanted: so those that are equal to the last one are read, too,
-- up to a thousand. The index has an order of its own for them, that of their places in the table, and before PostgreSQL 17
-- no plan would use it for an ORDER BY of two.
SELECT l.chunk_id, 1 OPERATOR(pg_catalog.-) (l.embedding OPERATOR({vector}.<=>) $1) AS similarity, OPERATOR(pg_catalog.-) l.distance AS score,
       {words} AS words
FROM (SELECT t.chunk_id, t.embedding, t.tsv, t.distance
      FROM (SELECT v.chunk_id, v.embedding, v.tsv, {distance} AS distance
            FROM {view} AS v
            WHERE v.tsv OPERATOR(pg_catalog.@@) $2::pg_catalog.text::pg_catalog.tsquery AND {filter}
            ORDER BY distance
            FETCH FIRST $4 ROWS WITH TIES) AS t
      ORDER BY t.distance
      LIMIT $4 OPERATOR(pg_catalog.+) 1000) AS l
ORDER BY l.distance, l.chunk_id
LIMIT $4

-- name: lexical_unindexed
-- As `lexical`, for a chunk table without a rag_bm25 index.
--
-- ts_rank with normalisation 1 (by the logarithm of the length): of PostgreSQL's rankings the
-- one that finds most, nDCG@10 0.850 and 0.605 on SQuAD paragraphs and SciFact, where
-- ts_rank_cd with OR between the words has 0.568 and 0.374, and BM25 0.882 and 0.671.
SELECT l.chunk_id, 1 OPERATOR(pg_catalog.-) (l.embedding OPERATOR({vector}.<=>) $1) AS similarity, l.score,
       {words} AS words
FROM (SELECT v.chunk_id, v.embedding, v.tsv, {score} AS score
      FROM {view} AS v
      WHERE v.tsv OPERATOR(pg_catalog.@@) $2::pg_catalog.text::pg_catalog.tsquery AND {filter}
      ORDER BY score DESC, v.chunk_id
      LIMIT $4) AS l
ORDER BY l.score DESC, l.chunk_id

-- name: represented
-- Chunks whose summary or question is nearest: chunk, cosine similarity of the nearest, how well the
-- words of the chunk match, and these words. Parameters as in `dense`.
--
-- The distance from a vector without direction is NaN, which is above all numbers: so the least distance is looked for.
SELECT d.chunk_id, 1 OPERATOR(pg_catalog.-) pg_catalog.min(d.distance), pg_catalog.max({score}),
       (pg_catalog.array_agg({words}))[1] AS words
FROM (SELECT v.chunk_id, v.tsv, r.embedding OPERATOR({vector}.<=>) $1 AS distance
      FROM {representations} AS r
      JOIN {chunk_table} AS c ON c.content_hash OPERATOR(pg_catalog.=) r.content_hash
      JOIN {view} AS v ON v.chunk_id OPERATOR(pg_catalog.=) c.chunk_id
      WHERE r.embedding IS NOT NULL AND {filter}
      ORDER BY r.embedding OPERATOR({vector}.<=>) $1
      LIMIT $4) AS d
GROUP BY d.chunk_id
ORDER BY pg_catalog.min(d.distance), d.chunk_id

-- name: feedback
-- Words and vectors of chunks. $1: their keys.
SELECT v.chunk_id, w.words, w.counts, {embedding}
FROM {view} AS v
CROSS JOIN LATERAL (
    SELECT pg_catalog.array_agg(u.lexeme ORDER BY u.lexeme),
           pg_catalog.array_agg(coalesce(pg_catalog.cardinality(u.positions), 1) ORDER BY u.lexeme)
    FROM pg_catalog.unnest(v.tsv) AS u) AS w (words, counts)
WHERE v.chunk_id OPERATOR(pg_catalog.=) ANY ($1)

-- name: passages
-- Chunks by their keys. $1: the question's vector, NULL where it has none; $2: the keys.
SELECT v.chunk_id, {source_key}, v.chunk_no, v.content, v.start_char, v.end_char, v.heading, v.context,
       {metadata}, 1 OPERATOR(pg_catalog.-) (v.embedding OPERATOR({vector}.<=>) $1) AS similarity, {age}, {embedding}
FROM {view} AS v
WHERE v.chunk_id OPERATOR(pg_catalog.=) ANY ($2)

-- name: visible
-- Those of some chunks that the caller may see and the filter lets pass, and the keys of their rows. $1: keys of chunks,
-- $2: how many at most, $3: the filter's values.
SELECT v.chunk_id, {source_key}
FROM {view} AS v
WHERE v.chunk_id OPERATOR(pg_catalog.=) ANY ($1) AND {filter}
LIMIT $2

-- name: shown_key
-- A key as it is shown now. $1: the key as text, which was perhaps written under other settings.
SELECT {source_key} FROM (SELECT {columns}) AS v

-- name: key_itself
$1::pg_catalog.text::{type} AS {column}

-- name: key_member
($1::pg_catalog.text::pg_catalog.jsonb OPERATOR(pg_catalog.->>) {member})::{type} AS {column}

-- name: neighbours
-- The chunks around others in their documents. $1: the keys of those, $2: how far,
-- $3: whether they must stand under the same heading, $4: whether they must have the same parent.
SELECT h.chunk_id, v.chunk_id, v.chunk_no, v.content, v.start_char, v.end_char
FROM {hits} AS h
JOIN {view} AS v ON v.chunk_no OPERATOR(pg_catalog.>=) (h.chunk_no OPERATOR(pg_catalog.-) $2)
  AND v.chunk_no OPERATOR(pg_catalog.<=) (h.chunk_no OPERATOR(pg_catalog.+) $2){same_source}
WHERE h.chunk_id OPERATOR(pg_catalog.=) ANY ($1) AND (NOT $3 OR v.heading OPERATOR(pg_catalog.=) h.heading OR v.heading IS NULL AND h.heading IS NULL)
  AND (NOT $4 OR v.parent_start OPERATOR(pg_catalog.=) h.parent_start)

-- name: same_key
 AND {equal}

-- name: age
CASE WHEN pg_catalog.isfinite(v.{column})
     THEN EXTRACT(epoch FROM pg_catalog.now() OPERATOR(pg_catalog.-) v.{column}::pg_catalog.timestamptz)::pg_catalog.float8
          OPERATOR(pg_catalog./) 86400
     WHEN v.{column} OPERATOR(pg_catalog.>) pg_catalog.now() THEN 0
END

-- name: age_none
NULL::pg_catalog.float8

-- name: embedding_elements
v.embedding::real[]

-- name: embedding_none
NULL::real[]

-- name: metadata_value
CASE WHEN v.{column}::pg_catalog.text OPERATOR(pg_catalog.~) '[0-9]{digits}'
          OR pg_catalog.jsonb_path_exists(pg_catalog.to_jsonb(v.{column}), '$.**{levels}')
     THEN pg_catalog.to_jsonb(v.{column}::pg_catalog.text)
     ELSE pg_catalog.to_jsonb(v.{column}) END

-- name: text_distance
{document} OPERATOR({rag}.<@>) ROW($5::pg_catalog.oid, $2::pg_catalog.text::pg_catalog.tsquery)::{rag}.rag_bm25_query

-- name: text_distance_by_given
-- $6: the statistics, those of all shards.
{document} OPERATOR(rag.<@>) ROW(NULL::pg_catalog.regclass, $2::pg_catalog.text::pg_catalog.tsquery, $6::pg_catalog.float8[])::rag.bm25_weighted_query

-- name: text_rank
pg_catalog.ts_rank({document}, $2::pg_catalog.text::pg_catalog.tsquery, 1)::pg_catalog.float8

-- name: text_score
OPERATOR(pg_catalog.-) ({distance})

-- name: words
{candidate}.tsv

-- name: words_none
NULL::pg_catalog.tsvector

-- name: config
-- $1: the name of a text search configuration.
SELECT $1::pg_catalog.text::pg_catalog.regconfig::pg_catalog.oid

-- name: today
SELECT pg_catalog.to_char(CURRENT_DATE, 'YYYY-MM-DD')

-- name: chronological
-- The place of each of some values in their order, NULL of NULL. $1: the values as text.
SELECT CASE WHEN u.value IS NOT NULL
            THEN pg_catalog.dense_rank() OVER (ORDER BY u.value::{type}) END
FROM pg_catalog.unnest($1::pg_catalog.text[]) WITH ORDINALITY AS u (value, place)
ORDER BY u.place
