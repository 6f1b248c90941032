-- rag_create_pipeline, rag_drop_pipeline.
\set SHOW_CONTEXT never
\pset format unaligned
\pset tuples_only on
SET client_min_messages = warning;

-- Three statements to a first answer.
CREATE TABLE docs (id integer PRIMARY KEY, title text, body text, lang text, year integer, data jsonb);
INSERT INTO docs VALUES
    (1, 'Passwords', 'To reset a password, open the settings page and choose Reset password.', 'en', 2020, '{}'),
    (2, 'Invoices', 'Invoices are sent on the first day of each month.', 'en', 2021, '{}'),
    (3, 'Sicherung', 'Die Sicherung läuft jede Nacht um zwei Uhr.', 'de', 2022, NULL),
    (4, 'Empty', '', 'en', 2023, NULL),
    (5, 'Nothing', NULL, NULL, NULL, NULL);
SELECT rag_create_pipeline('docs', 'body');
SELECT name, source, content_view, chunk_table, view, key_columns, model, chunking, config, refresh, generation FROM rag.pipeline;
SELECT chunk_id, source_id, chunk_no, content, start_char, end_char, heading, token_count, length(content_hash), model, vector_dims(embedding) FROM docs_rag_chunks ORDER BY chunk_id;
SELECT attname, format_type(atttypid, atttypmod), attnotnull FROM pg_attribute WHERE attrelid = 'docs_rag_chunks'::regclass AND attnum > 0 ORDER BY attnum;
SELECT attname, format_type(atttypid, atttypmod) FROM pg_attribute WHERE attrelid = 'docs_rag'::regclass AND attnum > 0 ORDER BY attnum;
SELECT reloptions FROM pg_class WHERE oid = 'docs_rag'::regclass;

-- The source gets triggers and nothing else.
SELECT tgname, tgfoid::regproc, tgenabled FROM pg_trigger WHERE tgrelid = 'docs'::regclass ORDER BY tgname;
SELECT count(*) FROM pg_attribute WHERE attrelid = 'docs'::regclass AND attnum > 0;
SELECT indexrelid::regclass FROM pg_index WHERE indrelid = 'docs'::regclass;

-- One name is one pipeline; the relations are called after it.
SELECT fails($$SELECT rag_create_pipeline('docs', 'title')$$);
SELECT rag_create_pipeline('docs', 'title', 'titles');
SELECT source_id, content FROM titles_rag ORDER BY 1;
INSERT INTO docs VALUES (6, 'Keys', 'The keys hang by the door.', 'en', 2024, NULL);
SELECT rag_wait('docs'), rag_wait('titles');
SELECT content FROM docs_rag WHERE source_id = 6 UNION ALL SELECT content FROM titles_rag WHERE source_id = 6;
DELETE FROM docs WHERE id = 6;
-- What is there already stays as it is, and is dropped by the same words.
SELECT rag_create_pipeline('docs', 'title', if_not_exists => true), rag_create_pipeline('docs', 'body', 'titles', if_not_exists => true);
SELECT name, generation FROM rag.pipeline ORDER BY name;
SELECT rag_drop_pipeline('titles', if_exists => true);
CREATE TABLE taken_rag_content (id integer);
SELECT fails($$SELECT rag_create_pipeline('docs', 'title', 'taken')$$);
DROP TABLE taken_rag_content;

-- And away with it.
SELECT rag_drop_pipeline('docs');
SELECT count(*) FROM rag.pipeline;
SELECT relname FROM pg_class WHERE relname LIKE 'docs%' ORDER BY 1;
SELECT count(*) FROM pg_trigger WHERE tgrelid = 'docs'::regclass;
SELECT fails($$SELECT rag_drop_pipeline('docs')$$);
SELECT rag_drop_pipeline('docs', if_exists => true);
SELECT fails($$SELECT rag_drop_pipeline('docs', if_exists => NULL)$$);
SELECT fails($$SELECT rag_drop_pipeline(NULL, if_exists => true)$$);

-- An expression, metadata, sizes.
SELECT rag_create_pipeline('docs', $$title || ': ' || body$$, name => 'titled', metadata => ARRAY['lang', 'year', 'data'],
    chunking => '{"by": "sentence", "max_tokens": 16, "overlap": 4}', model => 'all-minilm-l6-v2-fp32', options => '{"config": "simple"}');
SELECT source_id, chunk_no, content, lang, year, data FROM titled_rag ORDER BY source_id, chunk_no;
SELECT name, chunking, model, config FROM rag.pipeline;
SELECT rag_drop_pipeline('titled');

-- Keys of other types, of more columns, of other names than one would choose.
CREATE TABLE words (word text PRIMARY KEY, meaning text);
INSERT INTO words VALUES ('it''s', 'A contraction.'), ('"quoted"', 'Within marks.'), ('{a,b}', 'Braces.'), ('back\slash', 'A slash.'), ('', 'Nothing.');
SELECT rag_create_pipeline('words', 'meaning');
SELECT source_word, content FROM words_rag ORDER BY source_word COLLATE "C";
CREATE TABLE items (id uuid PRIMARY KEY, note varchar(200));
INSERT INTO items VALUES ('00000000-0000-0000-0000-00000000000a', 'An item.');
SELECT rag_create_pipeline('items', 'note');
SELECT source_id, content FROM items_rag;
CREATE TABLE "Order Lines" ("Order" integer, "Line no" date, "desc" text, "from" integer, PRIMARY KEY ("Order", "Line no"));
INSERT INTO "Order Lines" VALUES (7, '2024-02-29', 'Two tins of ink.', 1), (7, '2024-03-01', 'A ream of paper.', 2);
SELECT rag_create_pipeline('"Order Lines"', 'desc', metadata => ARRAY['from']);
SELECT "source_Order", "source_Line no", content, "from" FROM "Order Lines_rag" ORDER BY 1, 2;
SELECT source_key, metadata FROM rag_retrieve('ink', 'Order Lines', k => 1);
CREATE TABLE copies (source_id integer, n integer, body text, PRIMARY KEY (source_id, n));
INSERT INTO copies VALUES (7, 1, 'A copy of a letter.');
SELECT rag_create_pipeline('copies', 'body');
SELECT source_key FROM rag_retrieve('letter', 'copies', k => 1);
SELECT rag_drop_pipeline('copies');
CREATE TABLE keyed (a integer NOT NULL, b integer NOT NULL UNIQUE, c integer UNIQUE, body text, UNIQUE (a, b));
INSERT INTO keyed VALUES (1, 2, 3, 'A body.');
SELECT rag_create_pipeline('keyed', 'body', key => ARRAY['b']);
SELECT source_b, content FROM keyed_rag;
SELECT fails($$SELECT rag_create_pipeline('keyed', 'body', 'k2', key => ARRAY['c'])$$);
SELECT fails($$SELECT rag_create_pipeline('keyed', 'body', 'k2', key => ARRAY['a'])$$);
SELECT fails($$SELECT rag_create_pipeline('keyed', 'body', 'k2', key => ARRAY['d'])$$);
SELECT fails($$SELECT rag_create_pipeline('keyed', 'body', 'k2', key => '{}')$$);

-- A long name leaves no room for a suffix.
CREATE TABLE this_is_the_longest_name_a_table_can_have_in_postgresql_sources (id integer PRIMARY KEY, body text);
INSERT INTO this_is_the_longest_name_a_table_can_have_in_postgresql_sources VALUES (1, 'Long.');
SELECT rag_create_pipeline('this_is_the_longest_name_a_table_can_have_in_postgresql_sources', 'body', 'long');
SELECT rag_drop_pipeline('long');

-- Partitioned tables, and tables in a schema that is not in the path.
CREATE SCHEMA archive;
CREATE TABLE archive.parts (id integer PRIMARY KEY, body text) PARTITION BY RANGE (id);
CREATE TABLE archive.parts_1 PARTITION OF archive.parts FOR VALUES FROM (0) TO (10);
CREATE TABLE archive.parts_2 PARTITION OF archive.parts FOR VALUES FROM (10) TO (20);
INSERT INTO archive.parts VALUES (1, 'In the first part.'), (11, 'In the second part.');
SELECT rag_create_pipeline('archive.parts', 'body', refresh => 'sync');
INSERT INTO archive.parts VALUES (12, 'Added to the second part.');
UPDATE archive.parts SET id = 2 WHERE id = 11;
SELECT source_id, content FROM archive.parts_rag ORDER BY 1;
SELECT rag_drop_pipeline('parts');

-- Two pipelines and none named; an unknown one.
SELECT fails($$SELECT rag_answer('Where is the ink?')$$);
SELECT fails($$SELECT * FROM rag_retrieve('ink', 'docs')$$);
SELECT rag_drop_pipeline(name) FROM rag.pipeline ORDER BY name;
SELECT fails($$SELECT rag_answer('Where is the ink?')$$);
SELECT fails($$SELECT * FROM rag_retrieve('ink', 'docs')$$);

-- What cannot be a source.
CREATE TABLE loose (body text);
CREATE VIEW shown AS SELECT * FROM docs;
CREATE MATERIALIZED VIEW kept AS SELECT * FROM docs;
CREATE TEMP TABLE passing (id integer PRIMARY KEY, body text);
CREATE SEQUENCE counter;
SELECT fails($$SELECT rag_create_pipeline('loose', 'body')$$);
CREATE TABLE deferred (id integer PRIMARY KEY DEFERRABLE, body text);
SELECT fails($$SELECT rag_create_pipeline('deferred', 'body')$$);
CREATE UNIQUE INDEX ON deferred (id);
SELECT rag_create_pipeline('deferred', 'body');
-- A source cannot have children, whose rows have triggers of their own.
SELECT fails('CREATE TABLE deferred_child () INHERITS (deferred)');
CREATE TABLE deferred_child (LIKE deferred);
SELECT fails('ALTER TABLE deferred_child INHERIT deferred');
DROP TABLE deferred, deferred_child CASCADE;
SELECT fails($$SELECT rag_create_pipeline('shown', 'body')$$);
SELECT fails($$SELECT rag_create_pipeline('kept', 'body')$$);
SELECT fails($$SELECT rag_create_pipeline('passing', 'body')$$);
SELECT fails($$SELECT rag_create_pipeline('counter', 'body')$$);
SELECT fails($$SELECT rag_create_pipeline('docs_pkey', 'body')$$);
SELECT fails($$SELECT rag_create_pipeline('nowhere', 'body')$$);
SELECT fails($$SELECT rag_create_pipeline(4000000000::oid, 'body')$$);
SELECT fails($$SELECT rag_create_pipeline(NULL, 'body')$$);

-- What cannot be content, metadata, a name, a size.
SELECT fails($$SELECT rag_create_pipeline('docs', 'year')$$);
SELECT fails($$SELECT rag_create_pipeline('docs', 'data')$$);
SELECT fails($$SELECT rag_create_pipeline('docs', 'bodi')$$);
SELECT fails($$SELECT rag_create_pipeline('docs', NULL)$$);
SELECT fails($$SELECT rag_create_pipeline('docs', '')$$);
SELECT fails($$SELECT rag_create_pipeline('docs', '   ')$$);
SELECT fails($$SELECT rag_create_pipeline('docs', 'body', metadata => ARRAY['colour'])$$);
SELECT fails($$SELECT rag_create_pipeline('docs', 'body', metadata => ARRAY['lang', NULL])$$);
SELECT fails($$SELECT rag_create_pipeline('docs', 'body', metadata => ARRAY['lang', 'lang'])$$);
ALTER TABLE docs ADD content text, ADD source_id text;
SELECT fails($$SELECT rag_create_pipeline('docs', 'body', metadata => ARRAY['content'])$$);
SELECT fails($$SELECT rag_create_pipeline('docs', 'body', metadata => ARRAY['source_id'])$$);
ALTER TABLE docs DROP content, DROP source_id;
SELECT fails($$SELECT rag_create_pipeline('docs', 'body', name => '')$$);
SELECT fails(format('SELECT rag_create_pipeline(%L, %L, name => %L)', 'docs', 'body', repeat('x', 64)));
SELECT fails($$SELECT rag_create_pipeline('docs', 'body', chunking => '{"by": "semantik"}')$$);
SELECT fails($$SELECT rag_create_pipeline('docs', 'body', chunking => '{"max_token": 512}')$$);
SELECT fails($$SELECT rag_create_pipeline('docs', 'body', chunking => '{"model": "all-minilm-l6-v2"}')$$);
SELECT fails($$SELECT rag_create_pipeline('docs', 'body', chunking => '[]')$$);
SELECT fails($$SELECT rag_create_pipeline('docs', 'body', chunking => '{"max_tokens": 513}')$$);
SELECT fails($$SELECT rag_create_pipeline('docs', 'body', chunking => '{"max_tokens": 64, "overlap": 64}')$$);
SELECT fails($$SELECT rag_create_pipeline('docs', 'body', model => 'nowhere')$$);
SELECT fails($$SELECT rag_create_pipeline('docs', 'body', refresh => 'sometimes')$$);
SELECT fails($$SELECT rag_create_pipeline('docs', 'body', options => '{"backfill": "later"}')$$);
SELECT fails($$SELECT rag_create_pipeline('docs', 'body', options => '{"configuration": "simple"}')$$);
-- Which ones there are depends on the version of PostgreSQL.
SELECT regexp_replace(fails($$SELECT rag_create_pipeline('docs', 'body', options => '{"config": "klingon"}')$$), '(english, ).*', '\1...');
SELECT fails($$SELECT rag_create_pipeline('docs', 'body', options => '{"config": "english''); DROP TABLE docs; --"}')$$);

-- Content is one expression over one row, whatever is written there.
CREATE TABLE secrets (content text);
SELECT fails($$SELECT rag_create_pipeline('docs', 'body) AS content FROM secrets; DROP TABLE secrets; --')$$);
SELECT fails($$SELECT rag_create_pipeline('docs', 'body)::text AS content FROM secrets --')$$);
SELECT fails($$SELECT rag_create_pipeline('docs', 'body), (SELECT content FROM secrets')$$);
SELECT fails($$SELECT rag_create_pipeline('docs', 'body) UNION SELECT (1')$$);
SELECT fails($$SELECT rag_create_pipeline('docs', 'body; DROP TABLE secrets')$$);
SELECT fails($$SELECT rag_create_pipeline('docs', 'body /*')$$);
SELECT fails($$SELECT rag_create_pipeline('docs', 'body --)::text AS content FROM secrets')$$);
SELECT content FROM docs_rag WHERE source_id = 2;
SELECT rag_drop_pipeline('docs');
SELECT fails($$SELECT rag_create_pipeline('docs', 'string_agg(body, '''')')$$);
SELECT fails($$SELECT rag_create_pipeline('docs', 'body, title')$$);
SELECT fails($$SELECT rag_create_pipeline('docs', 'row_number() OVER ()')$$);
SELECT fails($$SELECT rag_create_pipeline('docs', 'generate_series(1, 3)')$$);
SELECT fails($$SELECT rag_create_pipeline('docs', 'nosuchfunction(body)')$$);
SELECT fails($$SELECT rag_create_pipeline('docs', 'nix')$$);
SELECT fails($$SELECT rag_create_pipeline('docs', '"Title"')$$);
SELECT fails($$SELECT rag_create_pipeline('docs', '$1')$$);
SELECT rag_create_pipeline('docs', $$concat_ws(E'\n', '{braces} stay {braces}', title, body)$$, 'braces');
SELECT content FROM braces_rag WHERE source_id = 2;
SELECT rag_drop_pipeline('braces');
SELECT count(*) FROM secrets;
SELECT relname FROM pg_class WHERE relname LIKE 'docs%' ORDER BY 1;

-- Somebody else's table.
GRANT SELECT ON docs TO regress_stranger;
SET ROLE regress_stranger;
SELECT fails($$SELECT rag_create_pipeline('docs', 'body')$$);
RESET ROLE;

-- What a superuser makes on somebody's table is that owner's.
ALTER TABLE docs OWNER TO regress_owner;
GRANT CREATE ON SCHEMA public TO regress_owner;
SELECT rag_create_pipeline('docs', 'body');
SELECT relname, relowner::regrole FROM pg_class WHERE relname LIKE 'docs_rag%' AND relkind IN ('r', 'v') ORDER BY 1;
SET ROLE regress_owner;
INSERT INTO docs VALUES (9, 'Bell', 'The bell rings at nine.');
SELECT rag_wait();
SELECT source_key FROM rag_retrieve('When does the bell ring?', k => 1);
SELECT rag_drop_pipeline('docs');
SELECT rag_create_pipeline('docs', 'body');
SELECT count(*) FROM docs_rag;
SELECT rag_drop_pipeline('docs');
RESET ROLE;

-- The pipeline follows its source to another owner.
SELECT rag_create_pipeline('docs', 'body', refresh => 'sync');
ALTER TABLE docs OWNER TO regress_writer;
SELECT relname, relowner::regrole FROM pg_class WHERE relname LIKE 'docs_rag%' AND relkind IN ('r', 'v') ORDER BY 1;
SET ROLE regress_writer;
INSERT INTO docs VALUES (10, 'Gong', 'The gong sounds at ten.');
SELECT source_key FROM rag_retrieve('When does the gong sound?', k => 1);
RESET ROLE;
SELECT rag_drop_pipeline('docs');

-- A policy that is forced on the owner holds for who reads, not for what is embedded.
ALTER TABLE docs ENABLE ROW LEVEL SECURITY;
ALTER TABLE docs FORCE ROW LEVEL SECURITY;
CREATE POLICY few ON docs USING (id < 3);
CREATE POLICY many ON docs FOR INSERT WITH CHECK (true);
SELECT rag_create_pipeline('docs', 'body', refresh => 'sync');
SET ROLE regress_writer;
INSERT INTO docs VALUES (11, 'Horn', 'The horn is blown at eleven.');
SELECT count(*) FROM docs;
SELECT count(*) FROM docs_rag_chunks;
SELECT count(*) FROM rag_retrieve('When is the horn blown?', k => 100);
RESET ROLE;
SELECT count(*) FROM docs_rag_chunks WHERE source_id IN (SELECT id FROM docs);
SELECT rag_drop_pipeline('docs');
DROP POLICY few ON docs;
DROP POLICY many ON docs;
ALTER TABLE docs DISABLE ROW LEVEL SECURITY;
ALTER TABLE docs OWNER TO CURRENT_USER;

-- What fails leaves nothing; what is rolled back neither.
BEGIN;
SELECT rag_create_pipeline('docs', 'body');
ROLLBACK;
SELECT count(*) FROM rag.pipeline;
SELECT relname FROM pg_class WHERE relname LIKE 'docs_rag%' ORDER BY 1;

-- A table that goes takes its chunks along, and the pipeline can be dropped.
SELECT rag_create_pipeline('docs', 'body');
SELECT fails('DROP TABLE docs');
DROP VIEW shown;
DROP MATERIALIZED VIEW kept;
DROP TABLE docs CASCADE;
SELECT fails($$SELECT * FROM rag_retrieve('ink', 'docs')$$);
SELECT rag_drop_pipeline('docs');
SELECT relname FROM pg_class WHERE relname LIKE 'docs%' ORDER BY 1;
SELECT count(*) FROM rag.pipeline;

-- The texts decide about the text search configuration, unless one is named.
CREATE TABLE pages (id integer PRIMARY KEY, title text, body varchar(200), file bytea);
SELECT rag_create_pipeline('pages', 'body', name => 'empty', refresh => 'manual');
INSERT INTO pages VALUES
    (1, 'Urlaub', 'Der Antrag auf Urlaub wird im Portal gestellt und von der Leitung geprüft.', NULL),
    (2, 'Pumpen', 'Die Pumpen sind schwer und werden mit einem Kran bewegt.', NULL),
    (3, 'Nothing', NULL, NULL);
SELECT rag_create_pipeline('pages', 'body', name => 'bare', refresh => 'manual');
SELECT rag_create_pipeline('pages', $$title || E'\n' || body$$, name => 'made', refresh => 'manual');
SELECT rag_create_pipeline('pages', $$BODY || ''$$, name => 'capitals', refresh => 'manual');
SELECT rag_create_pipeline('pages', 'body', name => 'named', refresh => 'manual', options => '{"config": "simple"}');
SELECT rag_create_pipeline('pages', 'file', name => 'files', refresh => 'manual');
SELECT name, config FROM rag.pipeline ORDER BY id;
SELECT rag_alter_pipeline('empty', options => '{"config": "auto"}');
CALL rag_run('empty');
SELECT config FROM rag.pipeline WHERE name = 'empty';
SELECT content FROM rag_retrieve('schwere Pumpe', 'empty', mode => 'lexical');

-- Only columns that the content names are read: neither what a longer name, a quoted one or a literal has in common with
-- them, nor what has to be quoted elsewhere.
CREATE TABLE notes (id integer PRIMARY KEY, text text, footer_text text, "größe" text, "Body" text);
INSERT INTO notes VALUES (1,
    'Der Antrag auf Urlaub wird im Portal gestellt und von der Leitung geprüft.',
    'All of this is what you have to know about the pumps of your mill.',
    'Die Pumpen sind schwer und werden mit einem Kran bewegt.',
    'When the bell rings, all of you have to leave the mill by the door.');
SELECT rag_create_pipeline('notes', $$footer_text || ''$$, name => 'longer', refresh => 'manual');
SELECT rag_create_pipeline('notes', $$TEXT || ''$$, name => 'keyword', refresh => 'manual');
SELECT rag_create_pipeline('notes', $$notes.größe || ''$$, name => 'umlaut', refresh => 'manual');
SELECT rag_create_pipeline('notes', $$coalesce("Body", 'größe, text')$$, name => 'quoted', refresh => 'manual');
SELECT rag_create_pipeline('notes', $$'größe ' || id /* text */$$, name => 'literal', refresh => 'manual');
SELECT name, config FROM rag.pipeline WHERE name IN ('longer', 'keyword', 'umlaut', 'quoted', 'literal') ORDER BY id;
SELECT rag_alter_pipeline('quoted', options => '{"config": "auto"}');
SELECT config FROM rag.pipeline WHERE name = 'quoted';
DROP TABLE pages, notes CASCADE;
SELECT count(rag_drop_pipeline(name)) FROM rag.pipeline;
