-- A source changes: its chunks follow in the same transaction.
\set SHOW_CONTEXT never
\pset format unaligned
\pset tuples_only on
SET client_min_messages = warning;

CREATE TABLE docs (id integer PRIMARY KEY, title text, body text, lang text);
INSERT INTO docs VALUES (1, 'One', 'The first text.', 'en'), (2, 'Two', 'The second text.', 'en');
SELECT rag_create_pipeline('docs', 'body', metadata => ARRAY['lang'], refresh => 'sync');

-- Chunks whose ID is new since the last look were made anew.
CREATE TABLE seen (chunk_id bigint);
CREATE FUNCTION look() RETURNS TABLE (id integer, chunk_no integer, content text, lang text, made text)
LANGUAGE plpgsql AS $$
BEGIN
    RETURN QUERY SELECT c.source_id, c.chunk_no, c.content, c.lang, CASE WHEN s.chunk_id IS NULL THEN 'new' ELSE 'as before' END
        FROM docs_rag_chunks c LEFT JOIN seen s USING (chunk_id) ORDER BY c.source_id, c.chunk_no;
    DELETE FROM seen;
    INSERT INTO seen SELECT chunk_id FROM docs_rag_chunks;
END
$$;
SELECT * FROM look();

-- INSERT, of one row and of many.
INSERT INTO docs VALUES (3, 'Three', 'The third text.', 'en');
INSERT INTO docs SELECT i, 'Many', 'Text number ' || i, 'en' FROM generate_series(4, 6) AS i;
SELECT * FROM look();

-- UPDATE of the content, of metadata, of a column that the pipeline does not read, and of nothing.
UPDATE docs SET body = 'The first text, corrected.' WHERE id = 1;
SELECT * FROM look();
UPDATE docs SET lang = 'de' WHERE id = 2;
SELECT * FROM look();
UPDATE docs SET title = 'Another title';
SELECT count(*) FROM look() WHERE made = 'new';
UPDATE docs SET body = body, lang = lang;
SELECT count(*) FROM look() WHERE made = 'new';
UPDATE docs SET body = 'Nobody' WHERE id = 99;

-- A chunk's vector is its text's.
UPDATE docs SET body = 'Preface. ' || body WHERE id = 3;
SELECT c.content = d.body, (c.embedding <=> rag_embed(d.body, kind => 'passage')) < 0.02 FROM docs_rag_chunks c JOIN docs d ON d.id = c.source_id WHERE d.id = 3;

-- DELETE.
DELETE FROM docs WHERE id >= 4;
DELETE FROM docs WHERE id = 99;
SELECT * FROM look();

-- Content that is NULL, empty or white space has no chunk; text in its place has.
UPDATE docs SET body = NULL WHERE id = 1;
UPDATE docs SET body = '' WHERE id = 2;
UPDATE docs SET body = E' \n\t' WHERE id = 3;
INSERT INTO docs VALUES (4, NULL, NULL, NULL), (5, '', '', '');
SELECT * FROM look();
UPDATE docs SET body = 'Text number ' || id;
SELECT * FROM look();

-- Without letters, in other scripts, with what SQL and COPY find special.
INSERT INTO docs VALUES (6, '', '--- 42 ---', ''), (7, '', 'Größe 東京 👩‍🚀 שלום', ''), (8, '', E'it''s "x" {a} \\N \\\\ $1 %s\t;--', '');
SELECT * FROM look() WHERE id > 5;
DELETE FROM docs WHERE id > 5;

-- COPY.
COPY docs FROM STDIN;
6	Copied	A copied text.	en
7	Copied	\N	en
8	Copied	Another copied text.	\N
\.
SELECT * FROM look() WHERE id > 5;

-- ON CONFLICT: both halves of a statement.
INSERT INTO docs VALUES (8, 'Conflict', 'A text that won.', 'en'), (9, 'Conflict', 'A text that was new.', 'en')
    ON CONFLICT (id) DO UPDATE SET body = EXCLUDED.body, lang = EXCLUDED.lang;
SELECT * FROM look() WHERE id > 5;
INSERT INTO docs VALUES (9, 'Conflict', 'A text that lost.', 'en') ON CONFLICT DO NOTHING;
SELECT count(*) FROM look() WHERE made = 'new';

-- MERGE: three ways at once.
MERGE INTO docs USING (VALUES (6, NULL), (8, 'Merged over.'), (10, 'Merged in.')) AS m (key, text) ON id = m.key
    WHEN MATCHED AND m.text IS NULL THEN DELETE
    WHEN MATCHED THEN UPDATE SET body = m.text
    WHEN NOT MATCHED THEN INSERT VALUES (m.key, 'Merged', m.text, 'en');
SELECT * FROM look() WHERE id > 5;

-- Keys that change, also in a ring.
UPDATE docs SET id = 20 WHERE id = 10;
SELECT * FROM look() WHERE id > 8;
DELETE FROM docs WHERE id NOT IN (1, 2);
ALTER TABLE docs DROP CONSTRAINT docs_pkey, ADD PRIMARY KEY (id) DEFERRABLE;
UPDATE docs SET id = 3 - id, body = body || ' moved';
SELECT id, content FROM look();
UPDATE docs SET id = id + 1;
SELECT id, content FROM look();

-- Writing through a view, in a function, and by a CTE.
CREATE VIEW door AS SELECT * FROM docs;
INSERT INTO door VALUES (30, 'Door', 'Through the door.', 'en');
CREATE FUNCTION write_it(integer, text) RETURNS void LANGUAGE sql AS 'INSERT INTO docs VALUES ($1, NULL, $2, NULL)';
SELECT write_it(31, 'Written by a function.');
WITH gone AS (DELETE FROM docs WHERE id = 30 RETURNING *), come AS (INSERT INTO docs SELECT 32, title, body, lang FROM gone RETURNING 1)
SELECT count(*) FROM come;
SELECT id, content FROM look() WHERE id >= 30;

-- ROLLBACK, savepoints, errors in the middle.
BEGIN;
INSERT INTO docs VALUES (40, '', 'Will be rolled back.', '');
SAVEPOINT a;
UPDATE docs SET body = 'Will be undone.' WHERE id = 40;
DELETE FROM docs WHERE id = 31;
SELECT id, content FROM look() WHERE id >= 30;
ROLLBACK TO a;
SELECT id, content FROM look() WHERE id >= 30;
ROLLBACK;
SELECT id, content FROM look() WHERE id >= 30;
SELECT fails($$INSERT INTO docs VALUES (41, '', 'Good.', ''), (1 / 0, '', 'Bad.', '')$$);
SELECT fails($$INSERT INTO docs VALUES (41, '', 'Good.', ''), (31, '', 'A duplicate.', '')$$);
BEGIN;
INSERT INTO docs VALUES (42, '', 'Kept by the savepoint.', '');
SAVEPOINT a;
SELECT 1 / 0;
ROLLBACK TO a;
COMMIT;
SELECT id, content FROM look() WHERE id >= 30;

-- A model that is missing stops the change that needs it, and no other.
UPDATE rag.pipeline SET model = 'nowhere';
SELECT fails($$INSERT INTO docs VALUES (43, '', 'Not without a model.', '')$$);
DELETE FROM docs WHERE id = 42;
UPDATE rag.pipeline SET model = 'all-minilm-l6-v2';
SELECT id, content FROM look() WHERE id >= 30;

-- Renames and moves change nothing.
ALTER TABLE docs RENAME COLUMN body TO "The Text";
ALTER TABLE docs RENAME COLUMN id TO "key";
ALTER TABLE docs RENAME COLUMN lang TO language;
INSERT INTO docs VALUES (50, '', 'After the columns were renamed.', 'en');
UPDATE docs SET "The Text" = 'Changed after the columns were renamed.' WHERE "key" = 31;
SELECT id, content, lang FROM look() WHERE id >= 30;
ALTER TABLE docs RENAME TO "The Docs";
INSERT INTO "The Docs" VALUES (51, '', 'After the table was renamed.', 'en');
CREATE SCHEMA elsewhere;
ALTER TABLE "The Docs" SET SCHEMA elsewhere;
INSERT INTO elsewhere."The Docs" VALUES (52, '', 'After the table was moved.', 'en');
DELETE FROM elsewhere."The Docs" WHERE "key" = 50;
SELECT id, content FROM look() WHERE id >= 30;
ALTER VIEW docs_rag RENAME TO shown;
ALTER TABLE docs_rag_chunks SET SCHEMA elsewhere;
ALTER TABLE elsewhere.docs_rag_chunks RENAME TO pieces;
INSERT INTO elsewhere."The Docs" VALUES (53, '', 'After all of it was moved.', 'en');
SELECT source_key, content, metadata FROM rag_retrieve('After all of it was moved.', 'docs', k => 1, filter => '{"lang": "en"}');
SELECT source, content_view, chunk_table, view FROM rag.pipeline;

-- Columns added and dropped.
DROP VIEW door;
ALTER TABLE elsewhere."The Docs" ADD COLUMN extra integer DEFAULT 7, DROP COLUMN title;
INSERT INTO elsewhere."The Docs" VALUES (54, 'After columns came and went.', 'en', 8);
UPDATE elsewhere."The Docs" SET extra = 9;
SELECT fails($$ALTER TABLE elsewhere."The Docs" DROP COLUMN "The Text"$$);
SELECT source_id, content FROM elsewhere.pieces WHERE source_id >= 53 ORDER BY 1;

-- TRUNCATE.
BEGIN;
TRUNCATE elsewhere."The Docs";
SELECT count(*) FROM elsewhere.pieces;
ROLLBACK;
SELECT count(*) > 0 FROM elsewhere.pieces;
TRUNCATE elsewhere."The Docs";
SELECT count(*) FROM elsewhere.pieces;
INSERT INTO elsewhere."The Docs" VALUES (1, 'After the end.', 'en', 1);
SELECT source_id, content FROM elsewhere.pieces;
SELECT rag_drop_pipeline('docs');
SELECT relname FROM pg_class WHERE relname IN ('pieces', 'shown', 'docs_rag_content');

-- Whoever changes the table, the chunks are made with its owner's rights and no others.
GRANT CREATE ON SCHEMA public TO regress_owner;
SET ROLE regress_owner;
CREATE TABLE notes (id integer PRIMARY KEY, body text);
SELECT rag_create_pipeline('notes', 'body', refresh => 'sync');
GRANT INSERT ON notes TO regress_writer;
SET ROLE regress_writer;
INSERT INTO notes VALUES (1, 'Written by somebody who may only insert.');
SELECT fails('SELECT * FROM notes_rag_chunks');
SELECT current_user, current_setting('search_path');
RESET ROLE;
SELECT source_id, content FROM notes_rag_chunks;

-- An expression that does what its owner may not do, does not do it for a superuser who writes.
CREATE TABLE forbidden (line text);
SET ROLE regress_owner;
CREATE FUNCTION sneak(text) RETURNS text LANGUAGE plpgsql AS $$BEGIN INSERT INTO public.forbidden VALUES ($1); RETURN $1; END$$;
CREATE TABLE trap (id integer PRIMARY KEY, body text);
SELECT rag_create_pipeline('trap', 'sneak(body)', refresh => 'sync');
RESET ROLE;
SELECT fails($$INSERT INTO trap VALUES (1, 'Bait.')$$);
SELECT count(*) FROM forbidden;

-- rag.capture belongs to pipelines.
CREATE TABLE other (id integer PRIMARY KEY, body text);
CREATE TRIGGER wild AFTER INSERT ON other FOR EACH ROW EXECUTE FUNCTION rag.capture();
SELECT fails($$INSERT INTO other VALUES (1, 'x')$$);
DROP TRIGGER wild ON other;
CREATE TRIGGER wild AFTER INSERT ON other FOR EACH ROW EXECUTE FUNCTION rag.capture('no number');
SELECT fails($$INSERT INTO other VALUES (1, 'x')$$);
DROP TRIGGER wild ON other;
SELECT id AS notes_id FROM rag.pipeline WHERE name = 'notes' \gset
CREATE TRIGGER wild AFTER INSERT ON other FOR EACH ROW EXECUTE FUNCTION rag.capture(:notes_id);
INSERT INTO other VALUES (1, 'It came with a dump.');
INSERT INTO other VALUES (2, 'So did this one.');

-- A new pipeline drops such triggers, also those that have the name and the number of its own.
SELECT rag_create_pipeline('other', 'body', refresh => 'sync');
SELECT tgname FROM pg_trigger WHERE tgrelid = 'other'::regclass ORDER BY 1;
SELECT rag_drop_pipeline('other');
SELECT last_value + 1 AS next_id FROM rag.pipeline_id_seq \gset
CREATE TRIGGER rag_other_insert AFTER INSERT ON other FOR EACH ROW EXECUTE FUNCTION rag.capture(:next_id);
SET client_min_messages = notice;
SELECT rag_create_pipeline('other', 'body', refresh => 'sync');
SET client_min_messages = warning;
INSERT INTO other VALUES (3, 'This is new.');
SELECT source_id, content FROM other_rag ORDER BY 1;

-- A row without a key is refused.
CREATE TABLE keyless (id integer NOT NULL UNIQUE, body text);
SELECT rag_create_pipeline('keyless', 'body', refresh => 'sync');
ALTER TABLE keyless ALTER COLUMN id DROP NOT NULL;
SELECT fails($$INSERT INTO keyless VALUES (NULL, 'Nobody.')$$);
INSERT INTO keyless VALUES (1, 'Somebody.');
SELECT fails('UPDATE keyless SET id = NULL');
SELECT source_id, content FROM keyless_rag;
-- What logical replication applies is skipped there, and listed: an error would stop it.
SET session_replication_role = replica;
INSERT INTO keyless VALUES (NULL, 'Nobody.'), (NULL, 'Nobody else.'), (2, 'Somebody else.');
RESET session_replication_role;
SELECT rag_wait('keyless');
SELECT source_id, content FROM keyless_rag ORDER BY 1;
SELECT key, attempts, sqlstate, message FROM rag.dead_letter;
SELECT failed_rows, last_sqlstate, last_error FROM rag.pipeline_status WHERE pipeline = 'keyless';
-- A key that is lost takes its chunks with it, and a row that gets one is found.
SET session_replication_role = replica;
UPDATE keyless SET id = NULL WHERE id = 2;
UPDATE keyless SET id = 3 WHERE body = 'Nobody.';
RESET session_replication_role;
SELECT rag_wait('keyless');
SELECT source_id, content FROM keyless_rag ORDER BY 1;
-- rag_retry has workers look again, and a new generation lists them for itself.
SELECT rag_retry('keyless');
SELECT rag_wait('keyless');
SELECT key FROM rag.dead_letter;
SELECT rag_alter_pipeline('keyless', chunking => '{"max_tokens": 100}');
SELECT rag_wait('keyless');
SELECT source_id, content FROM keyless_rag ORDER BY 1;
SELECT key FROM rag.dead_letter;
SELECT count(*) FROM rag.queue WHERE pipeline = (SELECT id FROM rag.pipeline WHERE name = 'keyless');
-- They go from the list as they go, or get keys.
DELETE FROM keyless WHERE body = 'Nobody else.';
SELECT rag_wait('keyless');
SELECT key FROM rag.dead_letter;
UPDATE keyless SET id = 4 WHERE id IS NULL;
SELECT rag_wait('keyless');
SELECT source_id, content FROM keyless_rag ORDER BY 1;
SELECT count(*) FROM rag.dead_letter;
-- Of a key of several columns what is known is listed, and an empty text is a key.
CREATE TABLE pairs (a text NOT NULL, b text NOT NULL, body text, UNIQUE (a, b));
SELECT rag_create_pipeline('pairs', 'body', refresh => 'manual');
ALTER TABLE pairs ALTER COLUMN a DROP NOT NULL, ALTER COLUMN b DROP NOT NULL;
SET session_replication_role = replica;
INSERT INTO pairs VALUES ('x', NULL, 'One.'), (NULL, 'y', 'Two.'), ('x', NULL, 'Three.'), ('', '', 'Four.');
RESET session_replication_role;
CALL rag_run('pairs');
SELECT key FROM rag.dead_letter ORDER BY key;
SELECT source_a, source_b, content FROM pairs_rag;
TRUNCATE pairs;
CALL rag_run('pairs');
SELECT count(*) FROM rag.dead_letter;
SELECT count(*) FROM pairs_rag_chunks;

-- Dumps switch row_security off, and a session may quote all identifiers.
SET ROLE regress_owner;
SET row_security = off;
SET quote_all_identifiers = on;
CREATE TABLE restored (id integer PRIMARY KEY, title text, body text, lang text);
SELECT rag_create_pipeline('restored', 'body', metadata => ARRAY['lang'], refresh => 'sync', options => '{"title": "title"}');
INSERT INTO restored VALUES (1, 'Soup', 'It is served hot.', 'en');
SELECT context, content, lang FROM restored_rag;
SELECT content, metadata FROM rag_retrieve('How is soup served?', 'restored', filter => '{"lang": "en"}');
SELECT rag_answer('How is soup served?', 'restored') IS NOT NULL;
SELECT rag_pause('restored'), rag_resume('restored'), rag_wait('restored'), rag_retry('restored');
SELECT pipeline, state FROM rag.pipeline_status WHERE pipeline = 'restored';
SELECT rag_alter_pipeline('restored', options => '{"description": "what was dumped"}');
TRUNCATE restored;
SELECT count(*) FROM restored_rag_chunks;
GRANT SELECT ON restored, restored_rag, restored_rag_chunks TO regress_reader;
RESET quote_all_identifiers;
SET ROLE regress_reader;
SELECT fails($$SELECT * FROM rag_retrieve('soup', 'restored')$$);
SET ROLE regress_owner;
SELECT rag_drop_pipeline('restored');
RESET row_security;
RESET ROLE;

-- What is taken away is in the way of nothing.
CREATE TABLE reports (id integer PRIMARY KEY, body text);
SELECT rag_create_pipeline('reports', 'body', refresh => 'manual', options => '{"tree": {}}');
SELECT fails($$SELECT rag_alter_pipeline('reports', refresh => 'sync')$$);
SELECT rag_alter_pipeline('reports', refresh => 'sync', options => '{"tree": false}');
