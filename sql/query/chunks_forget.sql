-- $1..: one text array a key column. Chunks of the documents so named.
DELETE FROM {chunk_table} AS c
USING ROWS FROM ({unnest_keys}) AS d ({key_names})
WHERE {chunk_match} AND c.generation = {generation}
