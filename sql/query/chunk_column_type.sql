ALTER TABLE {chunk_table} ALTER COLUMN {column} TYPE {type} USING {value}::{type}
