-- The keys of all rows, as text.
SELECT ARRAY[{keys}]::text[] FROM {source} AS s
