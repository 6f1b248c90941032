-- The embedding model that is meant where none is named.
SELECT pg_catalog.current_setting('rag.embedding_model')
