-- $1: most rows. Takes what sessions have left.
DELETE FROM rag.intake AS i
USING (SELECT t.ctid FROM rag.intake AS t LIMIT $1 FOR UPDATE SKIP LOCKED) AS t
WHERE i.ctid = t.ctid
RETURNING i.pipeline, i.kind, i.keys, i.queued_at
