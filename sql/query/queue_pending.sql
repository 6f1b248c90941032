-- $1: pipeline. Whether something that was committed before $2 waits to be found.
SELECT EXISTS (SELECT FROM rag.intake WHERE pipeline = $1 AND queued_at <= $2)
    OR EXISTS (SELECT FROM rag.queue WHERE pipeline = $1 AND queued_at <= $2)
