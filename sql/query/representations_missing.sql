-- Texts of chunks that nobody has described in this template. $1: the template, $2: how many.
SELECT DISTINCT ON (c.content_hash) c.content_hash, c.content, c.heading
FROM {chunk_table} AS c
WHERE NOT EXISTS (SELECT FROM {representations} AS r WHERE r.content_hash = c.content_hash AND r.template = $1)
ORDER BY c.content_hash
LIMIT $2
