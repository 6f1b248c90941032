CREATE INDEX {name} ON {chunk_table} (context_key)
