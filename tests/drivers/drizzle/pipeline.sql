-- region pipeline
CREATE EXTENSION IF NOT EXISTS pg_rag CASCADE;
--> statement-breakpoint
SELECT rag_create_pipeline('page', 'body', metadata => ARRAY['title', 'lang'],
    options => '{"relations_schema": "page_search"}');
-- endregion
