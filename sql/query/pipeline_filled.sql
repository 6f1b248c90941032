-- $1: the only pipeline, or NULL for all that workers see to. Those whose rows have all been seen to
-- for the first time, and those that can take another's place.
SELECT p.id FROM rag.pipeline AS p
WHERE (p.stage = 'filling' OR p.replaces IS NOT NULL)
  AND CASE WHEN $1 IS NULL THEN p.mode <> 'manual' AND NOT p.paused ELSE p.id = $1 OR p.replaces = $1 END
  AND NOT EXISTS (SELECT FROM rag.intake AS i WHERE i.pipeline = p.id AND i.kind = 'all')
  AND NOT EXISTS (SELECT FROM rag.queue AS q
                  WHERE q.pipeline = p.id AND q.attempts = 0 AND q.queued_at <= p.fill_from)
  AND rag.is_whole(p.id, p.source, p.chunk_table)
ORDER BY p.id
