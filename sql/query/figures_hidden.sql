-- $1: a table.
SELECT rag.hides_figures($1)
