CREATE POLICY rag_source_visible ON {table} FOR SELECT
    USING (EXISTS (SELECT FROM {chunk_table} AS c WHERE c.context_key OPERATOR(pg_catalog.=) {bare}.context_key))
