-- $1: a table.
SELECT rag.hides_rows($1)
