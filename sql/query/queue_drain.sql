-- $1: pipeline, $2: most rows. Takes what sessions have left.
DELETE FROM rag.intake AS i
USING (SELECT t.ctid FROM rag.intake AS t WHERE t.pipeline = $1 LIMIT $2 FOR UPDATE SKIP LOCKED) AS t
WHERE i.ctid = t.ctid
RETURNING i.kind, i.keys, i.queued_at
