-- $1: the only pipeline, or NULL for all, $2: those that it is not to be. One about which sessions have left something that nobody has
-- in hand; also one that is gone, but none that is just being restored.
SELECT i.pipeline FROM rag.intake AS i
LEFT JOIN rag.pipeline AS p ON p.id = i.pipeline
WHERE (p.not_before IS NULL OR p.not_before <= pg_catalog.clock_timestamp())
  AND (p.id IS NULL OR rag.is_whole(p.id, p.source, p.chunk_table))
  AND ($1 IS NULL OR p.id = $1 OR p.replaces = $1)
  AND i.pipeline <> ALL ($2)
LIMIT 1 FOR UPDATE OF i SKIP LOCKED
