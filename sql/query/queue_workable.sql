-- $1: the only pipeline, or NULL for all that workers see to. Those that have something to do now,
-- their owners, and whether that is new work.
SELECT p.id, coalesce((SELECT c.relowner FROM pg_catalog.pg_class AS c WHERE c.oid = p.source::oid), 0::oid), w.fresh
FROM rag.pipeline AS p
CROSS JOIN (VALUES (true), (false)) AS w (fresh)
WHERE CASE WHEN $1 IS NULL THEN p.mode <> 'manual' AND NOT p.paused ELSE p.id = $1 OR p.replaces = $1 END
  AND (p.not_before IS NULL OR p.not_before <= pg_catalog.clock_timestamp())
  AND EXISTS (SELECT FROM rag.queue AS q
              WHERE q.pipeline = p.id AND (q.attempts > 0) = NOT w.fresh
                AND (q.next_attempt IS NULL OR q.next_attempt <= pg_catalog.now())
                AND (q.lease IS NULL OR NOT rag.is_held(q.lease, q.leased_until)))
  AND rag.is_whole(p.id, p.source, p.chunk_table)
ORDER BY p.id, w.fresh DESC
