-- region move
CREATE SCHEMA IF NOT EXISTS page_search;
ALTER TABLE page_rag_chunks SET SCHEMA page_search;
ALTER VIEW page_rag SET SCHEMA page_search;
ALTER VIEW page_rag_content SET SCHEMA page_search;
-- endregion
