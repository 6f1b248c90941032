-- Chunks whose summary or question is nearest: chunk, cosine similarity of the nearest, how well the
-- words of the chunk match, and these words. Parameters as in retrieve_dense.sql.
SELECT d.chunk_id, pg_catalog.max(d.similarity), pg_catalog.max({score}),
       (pg_catalog.array_agg({words}))[1] AS words
FROM (SELECT v.chunk_id, v.tsv, 1 OPERATOR(pg_catalog.-) (r.embedding OPERATOR({vector}.<=>) $1) AS similarity
      FROM {representations} AS r
      JOIN {chunk_table} AS c ON c.content_hash OPERATOR(pg_catalog.=) r.content_hash
      JOIN {view} AS v ON v.chunk_id OPERATOR(pg_catalog.=) c.chunk_id
      WHERE r.embedding IS NOT NULL AND {filter}
      ORDER BY r.embedding OPERATOR({vector}.<=>) $1
      LIMIT $4) AS d
GROUP BY d.chunk_id
ORDER BY 2 DESC, 1
