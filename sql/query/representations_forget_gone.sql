-- What describes no chunk any more.
DELETE FROM {representations} AS r
WHERE NOT EXISTS (SELECT FROM {chunk_table} AS c WHERE c.content_hash = r.content_hash)
