-- Places of which nobody has said anything in this way. $1: the template, $2: the language model,
-- $3: how many.
SELECT DISTINCT ON (c.context_key) c.context_key, c.chunk_id, c.context, c.content, NULL::text
FROM {chunk_table} AS c
WHERE c.context_key IS NOT NULL
  AND NOT EXISTS (SELECT FROM {contexts} AS l
                  WHERE l.context_key = c.context_key AND l.template = $1 AND l.llm = $2)
ORDER BY c.context_key
LIMIT $3
