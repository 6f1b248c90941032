-- The name of an embedding model, and how many numbers each of its vectors has. $1: its name, or NULL for the one that is
-- meant where none is named.
SELECT m.name, m.dimension
FROM rag.model AS m
WHERE m.name OPERATOR(pg_catalog.=) COALESCE($1, pg_catalog.current_setting('rag.embedding_model'))
