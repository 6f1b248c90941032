-- $1: pipeline, $2: the one that it replaces. For the exchange, while nobody stores anything.
SELECT id FROM rag.pipeline WHERE id IN ($1, $2) ORDER BY id FOR UPDATE SKIP LOCKED
