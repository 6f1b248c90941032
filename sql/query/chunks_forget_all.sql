DELETE FROM {chunk_table}
