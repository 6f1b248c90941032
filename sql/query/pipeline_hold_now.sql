-- $1: pipeline. As in pipeline_hold.sql, but nobody is waited for.
SELECT id FROM rag.pipeline WHERE id = $1 FOR KEY SHARE NOWAIT
