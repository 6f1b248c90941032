-- $1: the template, $2: the language model, $3: places, $4: what it says of them.
INSERT INTO {contexts} AS l (context_key, template, llm, line)
SELECT u.context_key, $1, $2, u.line
FROM ROWS FROM (pg_catalog.unnest($3::bytea[]), pg_catalog.unnest($4::text[])) AS u (context_key, line)
ON CONFLICT (context_key) DO UPDATE
SET (template, llm, line) = ROW(EXCLUDED.template, EXCLUDED.llm, EXCLUDED.line)
