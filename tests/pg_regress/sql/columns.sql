-- Columns of a source go, or get another type: the pipeline goes on, or says what is in the way.
\set SHOW_CONTEXT never
\pset format unaligned
\pset tuples_only on
SET client_min_messages = warning;

CREATE TABLE posts (id integer PRIMARY KEY, title varchar(40), body varchar(200), lang varchar(2), stars integer, price text);
INSERT INTO posts VALUES (1, 'Bread', 'Rye bread rests for a day.', 'en', 3, '5 EUR'), (2, 'Soup', 'Soup is served hot.', 'de', 4, '7 EUR');
COMMENT ON COLUMN posts.stars IS 'what readers think of it, from 1 to 5';
GRANT SELECT ON posts TO regress_reader;
SELECT rag_create_pipeline('posts', 'title || '': '' || body', metadata => ARRAY['lang', 'stars', 'price'], refresh => 'manual', options => '{"backfill": "now"}');
CREATE FUNCTION shows() RETURNS TABLE (shown text) LANGUAGE sql
AS 'SELECT concat_ws('' '', source_key, content, metadata) FROM rag_retrieve(''bread or soup'', ''posts'') ORDER BY 1';
CREATE FUNCTION indexes() RETURNS bigint LANGUAGE sql
AS $$SELECT count(*) FROM pg_class c JOIN pg_am a ON a.oid = c.relam WHERE a.amname = 'rag_hnsw'$$;
SELECT * FROM shows();

-- A type in which the text stays what it is.
ALTER TABLE posts ALTER COLUMN body TYPE varchar(300), ALTER COLUMN title TYPE text, ALTER lang TYPE varchar(20);
ALTER TABLE posts ALTER COLUMN body SET DATA TYPE text, ADD COLUMN seen boolean;
SELECT count(*) FROM rag.intake;
UPDATE posts SET lang = 'english', body = repeat('Rye bread rests for a day. ', 9) WHERE id = 1;
CALL rag_run('posts');
SELECT shown ~ '"english"', length(shown) > 200 FROM shows() LIMIT 1;
SELECT column_name, data_type, character_maximum_length FROM information_schema.columns WHERE table_name = 'posts_rag' AND column_name = 'lang';
UPDATE posts SET body = 'Rye bread rests for a day.' WHERE id = 1;
CALL rag_run('posts');

-- What others may do with the pipeline's relations stays, when these are made anew.
CREATE FUNCTION granted() RETURNS TABLE (granted text) LANGUAGE sql AS $$
    SELECT concat_ws(' ', c.relname, l.attname, a.grantee::regrole, a.privilege_type, CASE WHEN a.is_grantable THEN '+' END)
    FROM pg_class c
    CROSS JOIN LATERAL (
        SELECT NULL, c.relacl UNION ALL SELECT t.attname, t.attacl FROM pg_attribute t WHERE t.attrelid = c.oid
    ) AS l (attname, acl)
    CROSS JOIN LATERAL aclexplode(l.acl) AS a
    WHERE c.relname IN ('posts_rag', 'posts_rag_chunks') AND a.grantee <> c.relowner
    ORDER BY 1$$;
SELECT * FROM granted();
GRANT SELECT (content, lang, source_id) ON posts_rag TO regress_writer;
GRANT SELECT, REFERENCES ON posts_rag_chunks TO regress_owner WITH GRANT OPTION;

-- Metadata goes with its column, also from the view of chunks and from the index.
SET client_min_messages = notice;
ALTER TABLE posts DROP COLUMN lang CASCADE;
SET client_min_messages = warning;
SELECT relname, obj_description(oid, 'pg_class') FROM pg_class WHERE relname LIKE 'posts_rag%' AND relkind IN ('r', 'v') ORDER BY 1;
SELECT DISTINCT attname FROM pg_attribute
WHERE attrelid IN ('posts_rag'::regclass, 'posts_rag_chunks'::regclass, 'posts_rag_content'::regclass)
  AND attnum > 0 AND NOT attisdropped AND col_description(attrelid, attnum) IS NULL ORDER BY 1;
SELECT DISTINCT attname, col_description(attrelid, attnum) FROM pg_attribute
WHERE attrelid IN ('posts_rag'::regclass, 'posts_rag_chunks'::regclass, 'posts_rag_content'::regclass)
  AND attname IN ('source_id', 'stars', 'price') ORDER BY 1;
SELECT fails($$SELECT * FROM rag_retrieve('bread', 'posts', filter => '{"lang": "en"}')$$);
SELECT stage, indexes() FROM rag.pipeline;
SELECT * FROM shows();
CALL rag_run('posts');
SELECT stage, indexes() FROM rag.pipeline;
SELECT source_key FROM rag_retrieve('bread', 'posts', filter => '{"stars": 4}');
SELECT column_name FROM information_schema.columns WHERE table_name = 'posts_rag' AND column_name IN ('lang', 'stars', 'price') ORDER BY 1;
SET ROLE regress_reader;
SELECT count(*) FROM posts_rag;
RESET ROLE;
SELECT * FROM granted();

-- A type that makes other values.
ALTER TABLE posts ALTER COLUMN price TYPE integer USING split_part(price, ' ', 1)::integer, ALTER COLUMN title TYPE text USING upper(title);
-- Filters find them before workers have seen the rows.
SELECT filter, (SELECT string_agg(source_key, ' ' ORDER BY source_key) FROM rag_retrieve('bread or soup', 'posts', filter => filter::jsonb)) FROM unnest(ARRAY['{"price": 5}', '{"price": {"ne": 5}}', '{"price": null}']) WITH ORDINALITY AS f (filter, n) ORDER BY n;
SELECT stage, indexes() FROM rag.pipeline;
CALL rag_run('posts');
SELECT * FROM shows();
UPDATE posts SET title = 'Stew' WHERE id = 2;
CALL rag_run('posts');
SELECT * FROM shows();

-- What the chunks are made of stays, and so does the key.
SELECT fails('ALTER TABLE posts DROP COLUMN body CASCADE');
SELECT fails('ALTER TABLE posts DROP COLUMN body');
SELECT fails('ALTER TABLE posts DROP COLUMN id CASCADE');
SELECT fails('ALTER TABLE posts ALTER COLUMN id TYPE bigint');
SELECT fails('ALTER TABLE posts ALTER COLUMN body TYPE integer USING 1, ALTER COLUMN title TYPE integer[] USING ARRAY[1]');
-- What is no error of the pipeline, and what others need.
SELECT fails('ALTER TABLE posts DROP COLUMN nothing');
ALTER TABLE posts DROP COLUMN IF EXISTS nothing;
ALTER TABLE IF EXISTS nothing DROP COLUMN body;
CREATE VIEW cheap AS SELECT content FROM posts_rag WHERE price < 6;
SELECT fails('ALTER TABLE posts DROP COLUMN price CASCADE');
DROP VIEW cheap;
SET ROLE regress_reader;
SELECT fails('ALTER TABLE posts DROP COLUMN stars');
RESET ROLE;
-- All of that left everything as it was.
BEGIN;
ALTER TABLE posts DROP COLUMN stars;
ROLLBACK;
SELECT * FROM shows();

-- A column that has been renamed, of a table that has another name.
ALTER TABLE posts RENAME COLUMN stars TO rating;
ALTER TABLE posts RENAME TO articles;
ALTER TABLE articles ALTER COLUMN rating TYPE bigint, DROP COLUMN seen;
SELECT * FROM shows();
ALTER TABLE articles DROP COLUMN rating;
SELECT * FROM shows();

-- A successor has metadata of its own.
REVOKE SELECT ON posts_rag_chunks FROM regress_reader;
SELECT rag_alter_pipeline('posts', content => 'body');
ALTER TABLE articles DROP COLUMN price;
SELECT fails('ALTER TABLE articles DROP COLUMN title');
CALL rag_run('posts');
SELECT * FROM granted();
SELECT * FROM shows();
ALTER TABLE articles DROP COLUMN title;

-- All rows taken away and put back in one transaction, as a table swap would have it: the vectors stay.
CREATE TABLE next (LIKE articles INCLUDING ALL);
INSERT INTO next SELECT * FROM articles UNION ALL SELECT 3, 'Cake is for Sundays.';
SELECT chunks_embedded AS before FROM rag.activity \gset
BEGIN;
TRUNCATE articles;
INSERT INTO articles SELECT * FROM next;
COMMIT;
CALL rag_run('posts');
SELECT chunks_embedded - :before AS embedded FROM rag.activity;
SELECT count(*) FROM posts_rag;

-- Tables, schemas and all of an owner's are dropped as before.
DROP TABLE articles CASCADE;
SELECT count(*) FROM rag.pipeline;

-- The column of a partitioned table is that of its partitions.
CREATE TABLE events (id integer, day date, note varchar(40), room text, PRIMARY KEY (id, day)) PARTITION BY RANGE (day);
CREATE TABLE events_2025 PARTITION OF events FOR VALUES FROM ('2025-01-01') TO ('2026-01-01');
INSERT INTO events VALUES (1, '2025-02-03', 'The choir sings at noon.', 'hall');
SELECT rag_create_pipeline('events', 'note', metadata => ARRAY['room'], refresh => 'sync');
SELECT rag_create_pipeline('events_2025', 'note', metadata => ARRAY['room'], refresh => 'manual', options => '{"backfill": "now"}');
ALTER TABLE events ALTER COLUMN note TYPE text;
ALTER TABLE events DROP COLUMN room;
UPDATE events SET note = 'The choir sings in the evening, after the guests have come.';
INSERT INTO events VALUES (2, '2025-02-04', 'The band plays.');
SELECT source_id, content FROM events_rag ORDER BY 1;
CALL rag_run('events_2025');
SELECT source_id, content FROM events_2025_rag ORDER BY 1;
SELECT fails('ALTER TABLE events DROP COLUMN note');
TRUNCATE events_2025;
SELECT count(*) FROM events_rag;

-- A text that becomes bytes would be chunks of digits; another column may be what it likes.
CREATE TABLE letters (id integer PRIMARY KEY, body text, note text);
SELECT rag_create_pipeline('letters', 'body', refresh => 'manual');
SELECT fails($$ALTER TABLE letters ALTER COLUMN body TYPE bytea USING convert_to(body, 'UTF8')$$);
ALTER TABLE letters ALTER COLUMN note TYPE bytea USING convert_to(note, 'UTF8');

-- A type by which the vector index cannot filter, with and without an expression, and one by which it can.
CREATE TABLE wares (id integer PRIMARY KEY, body text, price integer, weight integer, stock integer);
INSERT INTO wares VALUES (1, 'A red lamp.', 10, 5, 3), (2, 'A blue lamp.', 20, 7, 4);
SELECT rag_create_pipeline('wares', 'body', metadata => '{price,weight,stock}', refresh => 'manual', options => '{"backfill": "now"}');
CREATE FUNCTION found(filter jsonb) RETURNS text LANGUAGE sql
AS $$SELECT string_agg(source_key, ' ' ORDER BY source_key) FROM rag_retrieve('lamp', 'wares', filter => filter)$$;
CREATE FUNCTION indexed(chunks regclass) RETURNS text LANGUAGE sql
AS $$SELECT string_agg(a.attname, ' ' ORDER BY a.attnum) FROM pg_index i JOIN pg_class c ON c.oid = i.indexrelid JOIN pg_am m ON m.oid = c.relam AND m.amname = 'rag_hnsw'
     JOIN pg_attribute a ON a.attrelid = i.indrelid AND a.attnum = ANY (i.indkey) WHERE i.indrelid = chunks$$;
SELECT indexed('wares_rag_chunks');
ALTER TABLE wares ALTER COLUMN stock TYPE bigint USING stock * 10;
SELECT indexed('wares_rag_chunks'), found('{"stock": 30}'), found('{"stock": {"ne": 30}}');
ALTER TABLE wares ALTER COLUMN price TYPE numeric;
SELECT stage, indexed('wares_rag_chunks'), found('{"price": 20}') FROM rag.pipeline WHERE name = 'wares';
CALL rag_run('wares');
SELECT stage, indexed('wares_rag_chunks') FROM rag.pipeline WHERE name = 'wares';
ALTER TABLE wares ALTER COLUMN weight TYPE numeric(4,1) USING weight / 2.0;
SELECT indexed('wares_rag_chunks'), found('{"weight": 2.5}'), found('{"weight": {"gt": 3}}'), found('{"weight": null}');
CALL rag_run('wares');
SELECT stage, indexed('wares_rag_chunks') FROM rag.pipeline WHERE name = 'wares';
DROP TABLE wares CASCADE;

-- However many columns are converted, the chunks are written once, and so is an index that filters by none of them: it is
-- another one of that name, made when they are complete.
CREATE TABLE goods (id integer PRIMARY KEY, body text, price integer, weight integer, stock integer);
INSERT INTO goods VALUES (1, 'A red lamp.', 10, 5, 3), (2, 'A blue lamp.', 20, 7, 4);
SELECT rag_create_pipeline('goods', 'body', metadata => '{price,weight,stock}', refresh => 'manual', options => '{"backfill": "now"}');
CREATE INDEX goods_plain ON goods_rag_chunks USING rag_hnsw (embedding vector_cosine_ops) WITH (m = 8);
CREATE INDEX goods_partial ON goods_rag_chunks USING rag_hnsw (embedding vector_cosine_ops) WHERE chunk_no = 0;
COMMENT ON INDEX goods_plain IS 'all of the owner''s goods \ any chunk';
COMMENT ON INDEX goods_partial IS 'beginnings';
CREATE TABLE written (n integer GENERATED ALWAYS AS IDENTITY, relation text);
CREATE FUNCTION note_written() RETURNS event_trigger LANGUAGE plpgsql
AS $$BEGIN INSERT INTO public.written (relation) SELECT relname FROM pg_class WHERE oid = pg_event_trigger_table_rewrite_oid(); END$$;
CREATE EVENT TRIGGER note_written ON table_rewrite EXECUTE FUNCTION note_written();
CREATE TABLE before AS SELECT oid, relname FROM pg_class WHERE relname IN ('goods_plain', 'goods_partial');
ALTER TABLE goods ALTER COLUMN stock TYPE bigint USING stock * 10, ALTER COLUMN weight TYPE bigint USING weight * 100;
SELECT relation FROM written ORDER BY n;
SELECT b.relname, b.oid <> c.oid AS is_another, c.reloptions, obj_description(c.oid, 'pg_class') FROM before b LEFT JOIN pg_class c ON c.relname = b.relname ORDER BY 1;
SELECT source_key, metadata FROM rag_retrieve('lamp', 'goods', filter => '{"stock": 30, "weight": 500}');
-- One that filters by a column that goes at the same time goes with it, and the pipeline's comes back without it.
DROP INDEX goods_plain, goods_partial;
SELECT indexed('goods_rag_chunks');
ALTER TABLE goods DROP COLUMN price, ALTER COLUMN stock TYPE integer USING stock / 10;
SELECT stage, indexed('goods_rag_chunks') FROM rag.pipeline WHERE name = 'goods';
CALL rag_run('goods');
SELECT stage, indexed('goods_rag_chunks') FROM rag.pipeline WHERE name = 'goods';
SELECT source_key, metadata FROM rag_retrieve('lamp', 'goods', filter => '{"stock": 4}');
DROP EVENT TRIGGER note_written;
DROP TABLE goods CASCADE;

-- A column may be called what a column for the while could be called.
CREATE TABLE odd (id integer PRIMARY KEY, body text, " 0" integer);
INSERT INTO odd VALUES (1, 'A green lamp.', 4);
SELECT rag_create_pipeline('odd', 'body', metadata => '{" 0"}', refresh => 'manual', options => '{"backfill": "now"}');
ALTER TABLE odd ALTER COLUMN " 0" TYPE bigint USING " 0" * 10;
SELECT " 0" FROM odd_rag_chunks;
DROP TABLE odd CASCADE;

-- What is made anew reads the owner's expressions with the owner's rights: here a type looks who reads it.
CREATE SCHEMA workshop AUTHORIZATION regress_writer;
SET ROLE regress_writer;
CREATE FUNCTION workshop.is_own(integer) RETURNS boolean LANGUAGE plpgsql AS $$BEGIN RETURN current_user = 'regress_writer'; END$$;
CREATE DOMAIN workshop.own_number AS integer CHECK (workshop.is_own(VALUE));
CREATE TABLE workshop.tools (id integer PRIMARY KEY, body text, size integer);
INSERT INTO workshop.tools VALUES (1, 'A hammer.', 2);
SELECT rag_create_pipeline('workshop.tools', $$body || array_length('{1,2}'::workshop.own_number[], 1)$$, metadata => '{size}', refresh => 'manual', options => '{"backfill": "now"}');
CREATE INDEX ON workshop.tools_rag_chunks USING rag_hnsw (embedding vector_cosine_ops, size) WHERE '{1,2}'::workshop.own_number[] IS NOT NULL;
ALTER TABLE workshop.tools ALTER COLUMN size TYPE bigint USING size * 10;
SELECT content FROM workshop.tools_rag_content;
RESET ROLE;
SELECT count(*) FROM pg_index WHERE indrelid = 'workshop.tools_rag_chunks'::regclass AND indpred IS NOT NULL;
SELECT rag_alter_pipeline('tools', metadata => '{}');
SELECT count(*), bool_and(viewowner = 'regress_writer') FROM pg_views WHERE schemaname = 'workshop' AND viewname LIKE 'tools\_rag\_content%';
DROP SCHEMA workshop CASCADE;

-- A session that has restored a dump goes on with its settings, and its partitions are seen.
CREATE TABLE logs (id integer, year integer, note text, PRIMARY KEY (id, year)) PARTITION BY LIST (year);
CREATE TABLE logs_2025 PARTITION OF logs FOR VALUES IN (2025);
SELECT rag_create_pipeline('logs', 'note', refresh => 'manual');
CALL rag_run('logs');
SET row_security = off;
SET check_function_bodies = off;
CREATE TABLE logs_2024 (LIKE logs INCLUDING ALL);
INSERT INTO logs_2024 VALUES (1, 2024, 'The mill burned down.');
ALTER TABLE logs ATTACH PARTITION logs_2024 FOR VALUES IN (2024);
SELECT tgname FROM pg_trigger WHERE tgrelid = 'logs_2024'::regclass AND tgparentid = 0;
RESET row_security;
RESET check_function_bodies;
CALL rag_run('logs');
SELECT source_id, content FROM logs_rag;
TRUNCATE logs_2024;
CALL rag_run('logs');
SELECT count(*) FROM logs_rag_chunks;

-- What a pipeline has left that went with the extension is named, what hangs on it first.
CREATE TABLE story (id integer PRIMARY KEY, body text);
SELECT rag_create_pipeline('story', 'body', refresh => 'manual', options => '{"graph": {"entities": "rules"}, "communities": {}, "tree": {}}');
DROP EXTENSION pg_rag CASCADE;
CREATE EXTENSION pg_rag;
SELECT fails($$SELECT rag_create_pipeline('events', 'note')$$);
DROP VIEW events_rag_content; DROP TABLE events_rag_chunks;
SELECT rag_create_pipeline('events', 'note');
SELECT fails($$SELECT rag_create_pipeline('story', 'body')$$);
DROP VIEW story_rag_content; DROP TABLE story_rag_chunks_communities; DROP TABLE story_rag_chunks_mentions; DROP TABLE story_rag_chunks_tree; DROP TABLE story_rag_chunks;
SELECT rag_create_pipeline('story', 'body');
