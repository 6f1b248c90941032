-- $1: pipeline, $2: lease. What is still leased so, locked.
SELECT q.key FROM rag.queue AS q WHERE q.pipeline = $1 AND q.lease = $2 ORDER BY q.key FOR UPDATE
