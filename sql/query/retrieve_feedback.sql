-- Words and vectors of chunks. $1: their keys.
SELECT v.chunk_id, w.words, w.counts, {embedding}
FROM {view} AS v
CROSS JOIN LATERAL (
    SELECT pg_catalog.array_agg(u.lexeme ORDER BY u.lexeme),
           pg_catalog.array_agg(coalesce(pg_catalog.cardinality(u.positions), 1) ORDER BY u.lexeme)
    FROM pg_catalog.unnest(v.tsv) AS u) AS w (words, counts)
WHERE v.chunk_id OPERATOR(pg_catalog.=) ANY ($1)
