-- $1..: one text array a key column. Vectors of these documents' chunks, by text.
SELECT DISTINCT ON (c.content_hash) c.content_hash, c.embedding::real[]
FROM {chunk_table} AS c
JOIN ROWS FROM ({unnest_keys}) AS d ({key_names}) ON {chunk_match}
WHERE c.model = {model}
