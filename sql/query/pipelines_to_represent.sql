-- $1: the only pipeline, or NULL for those that workers see to. Those whose chunks are described, and a
-- text that is another one when there may be more to do.
SELECT p.id, pg_catalog.concat_ws(' ', p.representations::oid, p.represent, a.rows_done, (SELECT pg_catalog.count(*) FROM rag.template))
FROM rag.pipeline AS p
LEFT JOIN rag.activity AS a ON a.pipeline = p.id
WHERE p.represent IS NOT NULL AND NOT p.paused
  AND CASE WHEN $1 IS NULL THEN p.mode <> 'manual' ELSE $1 IN (p.id, p.replaces) END
  AND rag.is_whole(p.id, p.source, p.chunk_table, p.representations)
ORDER BY p.id
