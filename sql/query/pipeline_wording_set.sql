-- $1: pipeline, $2: template, $3: description; NULL stays as it is, and an empty text takes it away.
UPDATE rag.pipeline
SET template = nullif(coalesce($2, template), ''), description = nullif(coalesce($3, description), '')
WHERE id = $1 OR replaces = $1
