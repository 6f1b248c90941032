SELECT rag.owns_pipeline($1)
