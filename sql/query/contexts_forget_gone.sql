-- What was said of places where no chunk is any more.
DELETE FROM {contexts} AS l
WHERE NOT EXISTS (SELECT FROM {chunk_table} AS c WHERE c.context_key = l.context_key)
