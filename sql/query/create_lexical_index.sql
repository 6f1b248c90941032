CREATE INDEX ON {chunk_table} USING gin (tsv)
