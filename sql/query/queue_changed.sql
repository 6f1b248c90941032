-- $1: the only pipeline, or NULL for all. One about which sessions have left something; also one
-- that is gone, but none that is just being restored.
SELECT i.pipeline FROM rag.intake AS i
LEFT JOIN rag.pipeline AS p ON p.id = i.pipeline
WHERE (p.not_before IS NULL OR p.not_before <= pg_catalog.clock_timestamp())
  AND (p.id IS NULL OR rag.is_whole(p.id, p.source, p.chunk_table))
  AND ($1 IS NULL OR p.id = $1 OR p.replaces = $1)
LIMIT 1
