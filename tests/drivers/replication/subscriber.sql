-- region subscriber
-- At the subscriber. psql puts the value of its variable in the place of :'publisher'.
CREATE EXTENSION IF NOT EXISTS pg_rag CASCADE;
CREATE TABLE page (id integer PRIMARY KEY, title text NOT NULL, body text NOT NULL);
SELECT rag_create_pipeline('page', 'body', metadata => ARRAY['title']);
CREATE SUBSCRIPTION help CONNECTION :'publisher' PUBLICATION help;
-- endregion
