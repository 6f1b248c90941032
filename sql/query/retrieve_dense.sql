-- The nearest vectors. $1: the question's vector, $3: the filter's values, $4: k,
-- $5: least similarity.
SELECT v.similarity, {source_key}, v.chunk_id, v.chunk_no, v.content, v.start_char, v.end_char,
       v.heading, {metadata}, v.similarity,
       (row_number() OVER (ORDER BY v.similarity DESC, v.chunk_id))::integer AS dense_rank,
       NULL::integer AS lexical_rank
FROM (SELECT v.*, 1 - (v.embedding OPERATOR({vector}.<=>) $1) AS similarity
      FROM {view} AS v
      WHERE {filter}
      ORDER BY v.embedding OPERATOR({vector}.<=>) $1
      LIMIT $4) AS v
WHERE $5::float8 IS NULL OR v.similarity >= $5
ORDER BY v.similarity DESC, v.chunk_id
