ALTER TABLE {chunk_table} DROP COLUMN {column}
