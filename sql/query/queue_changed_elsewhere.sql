-- $1: the only pipeline. Whether sessions have left something about it: what queue_changed.sql passes over
-- is in somebody's hand, and will be in the queue.
SELECT EXISTS (SELECT FROM rag.intake AS i
               JOIN rag.pipeline AS p ON p.id = i.pipeline
               WHERE (p.not_before IS NULL OR p.not_before <= pg_catalog.clock_timestamp())
                 AND rag.is_whole(p.id, p.source, p.chunk_table)
                 AND (p.id = $1 OR p.replaces = $1))
