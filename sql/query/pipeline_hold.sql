-- $1: pipeline. It stays until the end of the transaction, and does not become another's.
SELECT id FROM rag.pipeline WHERE id = $1 FOR KEY SHARE
