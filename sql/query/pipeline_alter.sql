-- $1: pipeline, $2: its name, $3: its mode. Its successor embeds in the same way, but not within
-- statements.
UPDATE rag.pipeline
SET name = CASE WHEN id = $1 THEN $2 END,
    mode = CASE WHEN id <> $1 AND $3 = 'sync' THEN 'async' ELSE $3 END
WHERE id = $1 OR replaces = $1
