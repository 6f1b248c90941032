-- Nearest vectors and matching words, fused by reciprocal rank. $1: the question's vector,
-- $2: its words as a tsquery, $3: the filter's values, $4: k, $5: least similarity,
-- $6: candidates of each side, $7: the fusion's constant.
WITH dense AS (
    SELECT d.chunk_id,
           (row_number() OVER (ORDER BY d.distance, d.chunk_id))::integer AS place
    FROM (SELECT v.chunk_id, v.embedding OPERATOR({vector}.<=>) $1 AS distance
          FROM {view} AS v
          WHERE {filter}
          ORDER BY v.embedding OPERATOR({vector}.<=>) $1
          LIMIT $6) AS d
), lexical AS (
    SELECT l.chunk_id,
           (row_number() OVER (ORDER BY l.score DESC, l.chunk_id))::integer AS place
    FROM (SELECT v.chunk_id, pg_catalog.ts_rank(v.tsv, $2::text::tsquery, 1) AS score
          FROM {view} AS v
          WHERE v.tsv @@ $2::text::tsquery AND {filter}
          ORDER BY score DESC, v.chunk_id
          LIMIT $6) AS l
), fused AS (
    SELECT chunk_id, dense.place AS dense_rank, lexical.place AS lexical_rank,
           coalesce(1.0::float8 / ($7 + dense.place), 0)
           + coalesce(1.0::float8 / ($7 + lexical.place), 0) AS score
    FROM dense FULL JOIN lexical USING (chunk_id)
)
SELECT f.score, {source_key}, v.chunk_id, v.chunk_no, v.content, v.start_char, v.end_char,
       v.heading, {metadata}, 1 - (v.embedding OPERATOR({vector}.<=>) $1) AS similarity,
       f.dense_rank, f.lexical_rank
FROM fused AS f
JOIN {view} AS v ON v.chunk_id = f.chunk_id
WHERE $5::float8 IS NULL OR 1 - (v.embedding OPERATOR({vector}.<=>) $1) >= $5
ORDER BY f.score DESC, f.chunk_id
LIMIT $4
