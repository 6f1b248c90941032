-- The chunks of a document that are read to say where one of them stands. $1: the chunk, $2:
-- characters of the beginning, $3: characters before and after it.
SELECT n.chunk_id = c.chunk_id, n.start_char, n.end_char, n.content
FROM {chunk_table} AS c
JOIN {chunk_table} AS n ON {same_document}
WHERE c.chunk_id = $1
  AND (n.start_char < $2 OR n.end_char > c.start_char - $3 AND n.start_char < c.end_char + $3)
ORDER BY n.start_char, n.end_char
