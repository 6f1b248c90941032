-- A schema of choice for the relations of pipelines.
\set SHOW_CONTEXT never
\pset format unaligned
\pset tuples_only on
\pset null NULL
SET client_min_messages = warning;
CREATE TABLE docs (id integer PRIMARY KEY, body text, lang text);
INSERT INTO docs VALUES (1, 'Invoices are sent on the first day of each month by Acme GmbH.', 'en'), (2, 'Visitors park behind the mill.', 'en');
GRANT SELECT ON docs TO regress_reader;
CREATE SCHEMA "Rag data";
CREATE FUNCTION made() RETURNS SETOF text LANGUAGE sql AS $$
    SELECT format('%s: %s', n.nspname, string_agg(c.relname, ', ' ORDER BY c.relname)) FROM pg_class AS c JOIN pg_namespace AS n ON n.oid = c.relnamespace
    WHERE c.relkind IN ('r', 'v') AND c.relname LIKE '%\_rag%' GROUP BY n.nspname ORDER BY n.nspname
$$;

-- By default the schema is that of the source; a setting names another, and an option wins over it.
SHOW rag.relations_schema;
SELECT rag_create_pipeline('docs', 'body', name => 'plain', refresh => 'sync');
SET rag.relations_schema = 'Rag data';
SELECT rag_create_pipeline('docs', 'body', metadata => ARRAY['lang'], refresh => 'sync', options => '{"graph": {"entities": "rules"}}');
CREATE SCHEMA other;
SELECT rag_create_pipeline('docs', 'body', name => 'apart', refresh => 'sync', options => '{"relations_schema": "other"}');
SELECT rag_create_pipeline('docs', 'body', name => 'beside', refresh => 'sync', options => '{"relations_schema": ""}');
SELECT * FROM made();
SELECT rag_drop_pipeline('plain'), rag_drop_pipeline('apart'), rag_drop_pipeline('beside');
SELECT * FROM made();
RESET rag.relations_schema;
-- What tools see that look at the schemas of the search path, or at that of the tables.
SELECT relname FROM pg_class WHERE relkind IN ('r', 'v', 'p', 'm', 'f') AND pg_table_is_visible(oid) AND relnamespace = 'public'::regnamespace ORDER BY relname;
SELECT table_name FROM information_schema.tables WHERE table_schema = 'public' ORDER BY 1;

-- It works as anywhere else.
SELECT source_key FROM rag_retrieve('When are invoices sent?', k => 1, filter => '{"lang": "en"}');
INSERT INTO docs VALUES (3, 'The library opens at nine.', 'en');
SELECT rag_answer('When does the library open?', options => '{"answer": {"max_sentences": 1}}');
SELECT count(*) FROM "Rag data".docs_rag;
-- New generations are made beside the old one, wherever that is by now.
ALTER SCHEMA "Rag data" RENAME TO rag_data;
SELECT rag_alter_pipeline('docs', chunking => '{"max_tokens": 64}');
SELECT rag_wait('docs');
SELECT * FROM made();
SELECT source, content_view, chunk_table, view FROM rag.pipeline;
SELECT source_key FROM rag_retrieve('When does the library open?', k => 1);

-- It is renamed while a cursor is open: the questions that are left are looked up under the new name.
BEGIN;
DECLARE asked CURSOR FOR SELECT (rag_retrieve_batch(ARRAY['mill', 'invoices'], 'docs', k => 1)).source_key;
FETCH 1 FROM asked;
ALTER SCHEMA rag_data RENAME TO renamed;
FETCH 1 FROM asked;
ROLLBACK;
-- Another schema, with views of the same names, has taken its name.
BEGIN;
DECLARE asked CURSOR FOR SELECT (rag_retrieve_batch(ARRAY['mill', 'invoices'], 'docs', k => 1)).source_key;
FETCH 1 FROM asked;
ALTER SCHEMA rag_data RENAME TO renamed;
CREATE SCHEMA rag_data;
CREATE VIEW rag_data.docs_rag AS SELECT * FROM renamed.docs_rag WHERE 1 / (chunk_id - chunk_id) > 0;
CREATE VIEW rag_data.docs_rag_chunks AS SELECT * FROM renamed.docs_rag_chunks WHERE 1 / (chunk_id - chunk_id) > 0;
FETCH 1 FROM asked;
ROLLBACK;
BEGIN ISOLATION LEVEL REPEATABLE READ;
DECLARE asked CURSOR FOR SELECT (rag_retrieve_batch(ARRAY['mill', 'invoices'], 'docs', k => 1)).source_key;
FETCH 1 FROM asked;
ALTER SCHEMA rag_data RENAME TO renamed;
FETCH 1 FROM asked;
ROLLBACK;

-- Rights: readers need USAGE on the schema, and are told so.
SET ROLE regress_reader;
SELECT fails($$SELECT * FROM rag_retrieve('mill', 'docs')$$);
SELECT fails($$SELECT * FROM rag_retrieve('mill', '*')$$);
RESET ROLE;
GRANT USAGE ON SCHEMA rag_data TO regress_reader;
SET ROLE regress_reader;
SELECT source_key FROM rag_retrieve('mill', 'docs', k => 1);
RESET ROLE;
-- Who makes a pipeline needs CREATE on it, and the owner of the source USAGE.
CREATE SCHEMA mine AUTHORIZATION regress_owner;
CREATE TABLE mine.notes (id integer PRIMARY KEY, body text);
ALTER TABLE mine.notes OWNER TO regress_owner;
SELECT fails($$SELECT rag_create_pipeline('mine.notes', 'body', options => '{"relations_schema": "rag_data"}')$$);
GRANT USAGE ON SCHEMA rag_data TO regress_owner;
SET ROLE regress_owner;
SELECT fails($$SELECT rag_create_pipeline('mine.notes', 'body', options => '{"relations_schema": "rag_data"}')$$);
RESET ROLE;
GRANT CREATE ON SCHEMA rag_data TO regress_owner;
SET ROLE regress_owner;
SELECT rag_create_pipeline('mine.notes', 'body', refresh => 'sync', options => '{"relations_schema": "rag_data"}');
INSERT INTO mine.notes VALUES (1, 'The garden is open.');
SELECT source_key FROM rag_retrieve('garden', 'notes');
SELECT rag_drop_pipeline('notes');
RESET ROLE;
-- A superuser's for the table of another role.
REVOKE CREATE ON SCHEMA rag_data FROM regress_owner;
SELECT rag_create_pipeline('mine.notes', 'body', refresh => 'sync', options => '{"relations_schema": "rag_data"}');
SELECT relowner::regrole FROM pg_class WHERE oid = 'rag_data.notes_rag_chunks'::regclass;
SET ROLE regress_owner;
INSERT INTO mine.notes VALUES (2, 'The cellar is closed.');
SELECT source_key FROM rag_retrieve('cellar', 'notes', k => 1);
RESET ROLE;

-- Who owns a schema could put other relations in their place, so that is the owner of the source, of the database, or a superuser.
CREATE SCHEMA strange AUTHORIZATION regress_stranger;
SELECT fails($$SELECT rag_create_pipeline('docs', 'body', 'x', options => '{"relations_schema": "strange"}')$$);
SELECT fails($$SELECT rag_create_pipeline('mine.notes', 'body', 'x', options => '{"relations_schema": "strange"}')$$);
ALTER SCHEMA strange OWNER TO regress_owner;
SELECT rag_create_pipeline('mine.notes', 'body', 'x', options => '{"relations_schema": "strange"}', refresh => 'sync');
ALTER SCHEMA strange OWNER TO regress_stranger;
SELECT fails($$SELECT rag_alter_pipeline('x', chunking => '{"max_tokens": 64}')$$);
ALTER SCHEMA strange OWNER TO pg_database_owner;
SELECT rag_alter_pipeline('x', chunking => '{"max_tokens": 64}');
SELECT rag_drop_pipeline('x');
-- Where it is neither the owner nor a superuser who creates the pipeline, the owner needs CREATE to be given it.
CREATE ROLE regress_deputy;
GRANT regress_owner TO regress_deputy;
CREATE SCHEMA deputed;
GRANT USAGE ON SCHEMA deputed TO regress_owner;
GRANT USAGE, CREATE ON SCHEMA deputed TO regress_deputy;
SET ROLE regress_deputy;
SELECT fails($$SELECT rag_create_pipeline('mine.notes', 'body', 'x', options => '{"relations_schema": "deputed"}')$$);
RESET ROLE;
GRANT CREATE ON SCHEMA deputed TO regress_owner;
SET ROLE regress_deputy;
SELECT rag_create_pipeline('mine.notes', 'body', 'x', options => '{"relations_schema": "deputed"}', refresh => 'sync');
RESET ROLE;
REVOKE CREATE ON SCHEMA deputed FROM regress_owner;
SET ROLE regress_deputy;
SELECT fails($$SELECT rag_alter_pipeline('x', chunking => '{"max_tokens": 64}')$$);
RESET ROLE;
-- The source gets another owner, who must be able to use the schema.
SELECT rag_drop_pipeline('notes');
SELECT fails('ALTER TABLE mine.notes OWNER TO regress_reader');
GRANT USAGE ON SCHEMA mine, deputed TO regress_reader;
ALTER TABLE mine.notes OWNER TO regress_reader;
SET ROLE regress_reader;
INSERT INTO mine.notes VALUES (4, 'The tower is high.');
SELECT source_key FROM rag_retrieve('tower', 'x', k => 1);
RESET ROLE;
ALTER SCHEMA deputed OWNER TO regress_reader;
SELECT fails('ALTER TABLE mine.notes OWNER TO regress_owner');
ALTER SCHEMA deputed OWNER TO CURRENT_USER;
ALTER TABLE mine.notes OWNER TO regress_owner;
DELETE FROM mine.notes WHERE id = 4;
-- Who calls a function has set the setting, and not who owns it.
CREATE FUNCTION mine.make() RETURNS text LANGUAGE sql SECURITY DEFINER AS $$SELECT rag_create_pipeline('mine.notes', 'body', 'made', refresh => 'manual')$$;
SET rag.relations_schema = 'deputed';
SELECT mine.make();
RESET rag.relations_schema;
SELECT view FROM rag.pipeline WHERE name = 'made';
SELECT rag_drop_pipeline('made'), rag_drop_pipeline('x');
DROP SCHEMA strange, deputed;
DROP OWNED BY regress_deputy;
DROP ROLE regress_deputy;
SELECT rag_create_pipeline('mine.notes', 'body', refresh => 'sync', options => '{"relations_schema": "rag_data"}');

-- What cannot be.
SELECT name, fails(format('SELECT rag_create_pipeline(%L, %L, %L, options => %L)', 'docs', 'body', 'x', jsonb_build_object('relations_schema', name)))
FROM unnest(ARRAY['nowhere', 'pg_catalog', 'pg_temp', 'pg_toast', 'information_schema', 'rag', 'Rag data']) AS name;
SELECT fails($$SELECT rag_create_pipeline('docs', 'body', 'x', options => '{"relations_schema": 3}')$$);
CREATE TABLE rag_data.x_rag (id integer);
SELECT fails($$SELECT rag_create_pipeline('docs', 'body', 'x', options => '{"relations_schema": "rag_data"}')$$);
DROP TABLE rag_data.x_rag;

-- The schema goes with its pipelines, and their tables stay.
SELECT fails('DROP SCHEMA rag_data');
DROP SCHEMA rag_data CASCADE;
SELECT count(*) FROM rag.pipeline;
SELECT * FROM made();
INSERT INTO docs VALUES (4, 'No trigger is left.', 'en');
INSERT INTO mine.notes VALUES (3, 'No trigger is left here.');
SELECT tgname FROM pg_trigger WHERE tgrelid IN ('docs'::regclass, 'mine.notes'::regclass);
DROP SCHEMA mine CASCADE;
DROP OWNED BY regress_owner, regress_reader;
