-- Chunks of rows that are in the source no more.
DELETE FROM {chunk_table} AS c
WHERE NOT EXISTS (SELECT FROM {source} AS s WHERE {key_join})
