-- $1: the key of a row that was deleted.
DELETE FROM rag.{table} WHERE {column} OPERATOR(pg_catalog.=) $1
