-- $1: pipeline, $2: the one whose place it is to take.
UPDATE rag.pipeline AS p
SET template = o.template, description = o.description
FROM rag.pipeline AS o
WHERE p.id = $1 AND o.id = $2
