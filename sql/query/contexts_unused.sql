-- Places whose chunks do not know yet what has been said of them. $1: how many.
SELECT DISTINCT ON (c.context_key) c.context_key, c.chunk_id, c.context, c.content, l.line
FROM {chunk_table} AS c
JOIN {contexts} AS l ON l.context_key = c.context_key
WHERE c.context_line IS DISTINCT FROM l.line
ORDER BY c.context_key
LIMIT $1
