-- $1: pipeline. Whether there is anything that workers see to.
SELECT EXISTS (SELECT FROM rag.intake WHERE pipeline = $1)
    OR EXISTS (SELECT FROM rag.queue WHERE pipeline = $1)
