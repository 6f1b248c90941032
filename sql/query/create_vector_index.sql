CREATE INDEX {name} ON {chunk_table} USING rag_hnsw (embedding {opclass_schema}.vector_cosine_ops{filters})
