-- $1: the key that a row had, $2: the one that it has now.
UPDATE rag.{table} SET {column} = $2 WHERE {column} OPERATOR(pg_catalog.=) $1
