-- What goes, or gets another name, with a row of the extension's own tables.

-- name: delete
-- $1: the key of a row that was deleted.
DELETE FROM rag.{table} WHERE {column} OPERATOR(pg_catalog.=) $1

-- name: update
-- $1: the key that a row had, $2: the one that it has now.
UPDATE rag.{table} SET {column} = $2 WHERE {column} OPERATOR(pg_catalog.=) $1
