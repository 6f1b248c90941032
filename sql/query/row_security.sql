-- Whether row-level security hides something of the caller.

-- name: hides_rows
-- $1: a table.
SELECT rag.hides_rows($1)

-- name: hides_figures
-- $1: a table.
SELECT rag.hides_figures($1)
