-- region pipeline
CREATE EXTENSION IF NOT EXISTS pg_rag CASCADE;
-- A schema for this pipeline alone: all that is in it is dropped. prisma migrate reset leaves it there, as it drops
-- only the schema of the models.
DROP SCHEMA IF EXISTS page_search CASCADE;
CREATE SCHEMA page_search;
SELECT rag_create_pipeline('page', 'body', metadata => ARRAY['title', 'lang'],
    options => '{"relations_schema": "page_search"}');

-- A view of your own in the schema of the models, for the model PageChunk.
CREATE VIEW page_chunk WITH (security_invoker = true) AS
    SELECT chunk_id, source_id, content, lang, embedding FROM page_search.page_rag;
-- endregion
