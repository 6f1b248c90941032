-- $1: pipeline, $2: most rows. Takes what sessions have left. The array is made once, whatever the plan;
-- a subselect that is joined would take more rows each time that it is read.
DELETE FROM rag.intake AS i
WHERE i.ctid = ANY (ARRAY(SELECT t.ctid FROM rag.intake AS t
                          WHERE t.pipeline = $1 LIMIT $2 FOR UPDATE SKIP LOCKED))
RETURNING i.kind, i.keys, i.queued_at
