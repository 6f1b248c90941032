-- The texts that hold most of the words: chunk, cosine similarity, how well the words match, the words.
-- Parameters as in retrieve_dense.sql. The order is that of the index rag_bm25.
SELECT l.chunk_id, 1 OPERATOR(pg_catalog.-) (l.embedding OPERATOR({vector}.<=>) $1) AS similarity, OPERATOR(pg_catalog.-) l.distance AS score,
       {words} AS words
FROM (SELECT v.chunk_id, v.embedding, v.tsv, {distance} AS distance
      FROM {view} AS v
      WHERE v.tsv OPERATOR(pg_catalog.@@) $2::pg_catalog.text::pg_catalog.tsquery AND {filter}
      ORDER BY distance
      LIMIT $4) AS l
ORDER BY l.distance, l.chunk_id
