-- The nearest vectors: chunk, cosine similarity, how well the words match, and the words themselves
-- where they are wanted. $1: the question's vector, $2: its words as a tsquery, $3: the filter's
-- values, $4: how many, $5: the index of the words.
SELECT d.chunk_id, 1 OPERATOR(pg_catalog.-) d.distance AS similarity, {score} AS score, {words} AS words
FROM (SELECT v.chunk_id, v.tsv, v.embedding OPERATOR({vector}.<=>) $1 AS distance
      FROM {view} AS v
      WHERE {filter}
      ORDER BY v.embedding OPERATOR({vector}.<=>) $1
      LIMIT $4) AS d
ORDER BY d.distance, d.chunk_id
