CREATE INDEX IF NOT EXISTS {name} ON {chunk_table} (content_hash)
