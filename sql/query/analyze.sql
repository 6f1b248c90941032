ANALYZE {chunk_table}
