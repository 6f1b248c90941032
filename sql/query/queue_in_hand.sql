-- $1: a process. Pipelines of which another one has rows in hand.
SELECT DISTINCT q.pipeline FROM rag.queue AS q
WHERE q.lease IS NOT NULL AND q.lease >> 32 <> $1 AND rag.is_held(q.lease, q.leased_until)
