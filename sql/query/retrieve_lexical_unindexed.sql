-- As retrieve_lexical.sql, for a chunk table without a rag_bm25 index.
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
