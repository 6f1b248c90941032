-- $1: pipeline. As in pipeline_hold.sql, but nothing is found where it is being dropped.
SELECT id FROM rag.pipeline WHERE id = $1 FOR KEY SHARE SKIP LOCKED
