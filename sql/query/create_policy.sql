CREATE POLICY rag_source_visible ON {chunk_table} FOR SELECT
    USING (EXISTS (SELECT FROM {source} AS s WHERE {key_join}))
