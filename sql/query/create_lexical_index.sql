CREATE INDEX ON {chunk_table} USING rag_bm25 (tsv)
