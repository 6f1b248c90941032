-- $1: pipeline. Nobody else has it, works on it or has another take its place until the end of the transaction.
SELECT id FROM rag.pipeline WHERE id = $1 FOR UPDATE
