CREATE POLICY rag_source_visible ON {table} FOR SELECT
    USING (EXISTS (SELECT FROM {chunk_table} AS c WHERE c.content_hash OPERATOR(pg_catalog.=) {bare}.content_hash))
