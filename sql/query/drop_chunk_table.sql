DROP TABLE IF EXISTS {chunk_table}
