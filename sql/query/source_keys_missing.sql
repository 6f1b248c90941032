-- The keys of rows without a chunk, as text.
SELECT ARRAY[{keys}]::text[] FROM {source} AS s
WHERE NOT EXISTS (SELECT FROM {chunk_table} AS c WHERE {key_join})
