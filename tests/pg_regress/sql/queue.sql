-- Modes, rag_wait, rag_run, rag_pause, rag_resume, rag_retry, rag_alter_pipeline and the status views.
\pset format unaligned
\pset tuples_only on

CREATE TABLE docs (id integer PRIMARY KEY, title text, body text, lang text);
INSERT INTO docs SELECT i, 'Title ' || i, 'The fox number ' || i || ' jumps over the dog. It rains in town ' || i || '.', 'en' FROM generate_series(1, 20) AS i;

-- With manual refresh nothing happens by itself.
SELECT rag_create_pipeline('docs', 'body', refresh => 'manual');
SELECT count(*) FROM docs_rag;
SELECT kind, cardinality(keys) FROM rag.intake;
SELECT pipeline, refresh, state, coverage, pending_rows, unqueued_changes FROM rag.pipeline_status;
SELECT fails($$SELECT rag_wait()$$);
CALL rag_run();
SELECT count(*) FROM docs_rag;
SELECT pipeline, refresh, state, coverage, pending_rows, unqueued_changes, rows_done, last_error FROM rag.pipeline_status;
SELECT pipeline, generation, rows_done, chunks_made, chunks_embedded, chunks_reused, rows_failed FROM rag.stat_pipeline;
SELECT model, pipelines, chunks_embedded FROM rag.model_status ORDER BY 1;
SELECT indexdef LIKE '%USING rag_hnsw (embedding vector_cosine_ops)' FROM pg_indexes WHERE indexname LIKE 'docs_rag%embedding%';
CALL rag_run('docs');
BEGIN;
CALL rag_run('docs');
ROLLBACK;
SELECT fails($$CALL rag_run('docs')$$);
SELECT fails($$CALL rag_run('nothing')$$);

-- What is noted: one row a transaction, each key once, nothing for an update of another column.
BEGIN;
UPDATE docs SET body = body || ' Once.' WHERE id < 4;
UPDATE docs SET body = body || ' Twice.' WHERE id < 3;
UPDATE docs SET lang = 'de';
UPDATE docs SET id = 30 WHERE id = 20;
DELETE FROM docs WHERE id = 19;
SAVEPOINT a;
INSERT INTO docs VALUES (40, '', 'Taken back.', 'en');
ROLLBACK TO a;
SELECT count(*) FROM rag.intake;
COMMIT;
SELECT kind, ARRAY(SELECT key::integer FROM unnest(keys) AS key WHERE key <> '40' ORDER BY 1) FROM rag.intake;
BEGIN;
INSERT INTO docs VALUES (41, '', 'Taken back.', 'en');
ROLLBACK;
SELECT count(*) FROM rag.intake;
CALL rag_run();
SELECT source_id, content FROM docs_rag WHERE source_id < 4 OR source_id > 18 ORDER BY 1;
SELECT count(*) FROM rag.queue;

-- Only the parts that have changed are embedded.
INSERT INTO docs SELECT 50, 'Long', string_agg('Paragraph ' || i || ' says that the number is ' || i * i || '.', E'\n\n'), 'en' FROM generate_series(1, 90) AS i;
SELECT rag_alter_pipeline('docs', chunking => '{"max_tokens": 24}');
CALL rag_run();
SELECT pipeline, generation, state FROM rag.pipeline_status;
SELECT count(*) FROM docs_rag WHERE source_id = 50;
SELECT chunks_embedded AS before FROM rag.stat_pipeline \gset
UPDATE docs SET body = replace(body, 'Paragraph 44 says', 'Paragraph 44 tells') WHERE id = 50;
CALL rag_run();
SELECT chunks_embedded - :before BETWEEN 1 AND 3 FROM rag.stat_pipeline;
SELECT count(*) FROM docs_rag WHERE source_id = 50;
SELECT string_agg(content, E'\n\n' ORDER BY chunk_no) = (SELECT body FROM docs WHERE id = 50) FROM docs_rag WHERE source_id = 50;

-- A row that can't be embedded, for a reason with an SQLSTATE of the user's own: tried again, given up,
-- queued again. The others don't wait for it.
CREATE FUNCTION said(title text, body text) RETURNS text LANGUAGE plpgsql AS $$
BEGIN
    IF title = 'bad' THEN RAISE 'row cannot be read' USING ERRCODE = 'AB123'; END IF;
    RETURN body;
END
$$;
CREATE TABLE notes (id integer PRIMARY KEY, title text, body text);
SELECT rag_create_pipeline('notes', 'said(title, body)', refresh => 'manual');
INSERT INTO notes VALUES (1, 'good', 'One.'), (2, 'bad', 'Two.'), (3, 'good', 'Three.');
CALL rag_run('notes');
SELECT source_id, content FROM notes_rag ORDER BY 1;
SELECT key, attempts > 0 AS tried, sqlstate, message, next_attempt IS NOT NULL AS waits FROM rag.queue ORDER BY key;
SELECT pipeline, pending_rows, retrying_rows, failed_rows, last_sqlstate, last_error FROM rag.pipeline_status WHERE pipeline = 'notes';
UPDATE rag.queue SET attempts = 4, next_attempt = NULL;
CALL rag_run('notes');
SELECT key, attempts, sqlstate, message FROM rag.dead_letter ORDER BY key;
SELECT pipeline, pending_rows, retrying_rows, failed_rows FROM rag.pipeline_status WHERE pipeline = 'notes';
SELECT rag_retry('notes', '1');
SELECT rag_retry('notes', '2');
UPDATE notes SET title = 'good' WHERE id = 2;
CALL rag_run('notes');
SELECT source_id, content FROM notes_rag ORDER BY 1;
SELECT count(*) FROM rag.dead_letter;
SELECT rag_drop_pipeline('notes');

-- How far a pipeline is does not depend on statistics, which a crash, a standby and a reset leave empty: then the last
-- ANALYZE counts, and without one there are as many rows as are known.
CREATE TABLE stock (id integer PRIMARY KEY, title text, body text);
SELECT rag_create_pipeline('stock', 'said(title, body)', refresh => 'manual');
INSERT INTO stock SELECT i, CASE WHEN i > 15 THEN 'bad' ELSE 'good' END, 'Item ' || i || '.' FROM generate_series(1, 20) AS i;
CALL rag_run('stock');
SELECT pg_stat_force_next_flush();
SELECT pg_stat_reset();
SELECT source_rows, coverage, pending_rows FROM rag.pipeline_status WHERE pipeline = 'stock';
ANALYZE stock, stock_rag_chunks;
SELECT source_rows, chunks, coverage, pending_rows FROM rag.pipeline_status WHERE pipeline = 'stock';
SELECT pg_stat_reset();
SELECT source_rows, chunks, coverage, pending_rows FROM rag.pipeline_status WHERE pipeline = 'stock';
SELECT rag_drop_pipeline('stock');
DROP TABLE stock;

-- A batch has as many rows as it is to have, also where the queue is thought to be empty and joined by a
-- loop: the most that were in hand at once is noted.
CREATE TABLE many (id integer PRIMARY KEY, body text);
CREATE SEQUENCE in_hand;
CREATE FUNCTION counted(body text) RETURNS text LANGUAGE plpgsql AS $$
BEGIN
    PERFORM setval('public.in_hand', greatest(i.last_value, (SELECT count(*) FROM rag.queue WHERE lease IS NOT NULL)))
    FROM public.in_hand AS i;
    RETURN body;
END
$$;
SELECT rag_create_pipeline('many', 'counted(body)', refresh => 'manual');
INSERT INTO many VALUES (0, 'A few words.');
CALL rag_run('many');
DELETE FROM many;
CALL rag_run('many');
VACUUM (ANALYZE) rag.queue, rag.intake;
INSERT INTO many SELECT i, 'A few words.' FROM generate_series(1, 600) AS i;
SET enable_hashjoin = off;
SET enable_mergejoin = off;
CALL rag_run('many');
RESET enable_hashjoin;
RESET enable_mergejoin;
SELECT last_value BETWEEN 1 AND 300 FROM in_hand;
SELECT count(*) FROM many_rag;
SELECT rag_drop_pipeline('many');

-- By workers, and not while it is paused.
COMMENT ON VIEW docs_rag_content IS 'foxes and towns';
SELECT rag_alter_pipeline('docs', refresh => 'async', name => 'texts');
SELECT relname, obj_description(oid, 'pg_class') FROM pg_class WHERE relname LIKE 'docs_rag%' AND relkind IN ('r', 'v') ORDER BY 1;
INSERT INTO docs VALUES (60, 'New', 'A row about elephants.', 'en');
SELECT rag_wait('texts');
SELECT content FROM docs_rag WHERE source_id = 60;
SELECT rag_pause('texts');
INSERT INTO docs VALUES (61, 'New', 'A row about giraffes.', 'en');
SELECT fails($$SELECT rag_wait('texts')$$);
SELECT state, unqueued_changes + pending_rows FROM rag.pipeline_status;
SELECT rag_resume('texts');
SELECT rag_wait('texts');
SELECT content FROM docs_rag WHERE source_id = 61;
SELECT rag_wait('texts', '0 s'), rag_wait(timeout => NULL);
SELECT fails($$SELECT rag_wait('texts', '-1 s')$$);

-- A new generation: the view stays, with who uses it.
CREATE VIEW used AS SELECT source_id, content FROM docs_rag;
SELECT rag_alter_pipeline('texts', chunking => '{"by": "sentence", "max_tokens": 100}');
SELECT rag_wait('texts');
SELECT generation, chunking, model, name, stage, replaces IS NULL FROM rag.pipeline;
SELECT count(*) FROM used WHERE source_id = 1;
SELECT relname, obj_description(oid, 'pg_class') FROM pg_class WHERE relname LIKE 'docs_rag%' AND relkind IN ('r', 'v') ORDER BY 1;
DROP VIEW used;
SELECT rag_alter_pipeline('texts', content => $$title || ': ' || body$$, metadata => ARRAY['lang']);
SELECT rag_wait('texts');
SELECT content, lang FROM docs_rag WHERE source_id = 60;
ALTER TABLE docs RENAME COLUMN body TO "The Body";
SELECT rag_alter_pipeline('texts', chunking => '{"by": "recursive"}');
SELECT rag_wait('texts');
SELECT content, lang FROM docs_rag WHERE source_id = 60;
SELECT fails($$SELECT rag_alter_pipeline('texts', chunking => '{"max_tokens": 1000}')$$);
SELECT fails($$SELECT rag_alter_pipeline('texts', refresh => 'never')$$);
SELECT fails($$SELECT rag_alter_pipeline('texts', metadata => ARRAY['colour'])$$);
SELECT fails($$SELECT rag_alter_pipeline('texts', options => '{"colour": 1}')$$);
SELECT fails($$SELECT rag_alter_pipeline('texts', name => '')$$);

-- Files.
CREATE TABLE files (id integer PRIMARY KEY, file bytea);
SELECT rag_create_pipeline('files', 'file', refresh => 'sync');
INSERT INTO files VALUES (1, '<html><body><h1>Zebra</h1><p>Stripes are black.</p></body></html>'), (2, 'Plain text of lions.');
SELECT source_id, content FROM files_rag ORDER BY 1;
SELECT fails($$INSERT INTO files VALUES (3, '\x255044462d312e340a')$$);
CREATE TABLE papers (id integer PRIMARY KEY, file bytea);
INSERT INTO papers VALUES (1, 'Plain text of lions.'), (2, '\x255044462d312e340a');
SELECT fails($$SELECT rag_create_pipeline('papers', 'file')$$);
DROP TABLE papers;

-- Nobody else's business.
SET ROLE regress_stranger;
SELECT count(*) FROM rag.pipeline_status;
SELECT count(*) FROM rag.queue;
SELECT count(*) FROM rag.activity;
SELECT fails($$SELECT rag_pause('texts')$$);
RESET ROLE;
GRANT SELECT ON docs TO regress_reader;
SET ROLE regress_reader;
SELECT pipeline, last_error FROM rag.pipeline_status;
SELECT count(*) FROM rag.activity;
SELECT fails($$SELECT rag_pause('texts')$$);
SELECT fails($$SELECT rag_resume('texts')$$);
SELECT fails($$SELECT rag_retry('texts')$$);
SELECT fails($$SELECT rag_alter_pipeline('texts', refresh => 'manual')$$);
RESET ROLE;

-- A table that goes takes its pipeline along.
SELECT fails('DROP TABLE files');
DROP TABLE files CASCADE;
DROP VIEW docs_rag_content;
ALTER TABLE docs DROP COLUMN "The Body";
SELECT count(*) FROM rag.pipeline;
SELECT relname FROM pg_class WHERE relname LIKE 'docs%' OR relname LIKE 'files%' ORDER BY 1;
INSERT INTO docs VALUES (70, 'Quiet', 'en');

-- rag_wait without a name waits for all pipelines; what a transaction has changed itself it cannot wait for.
CREATE TABLE plants (id integer PRIMARY KEY, note text);
CREATE TABLE tools (id integer PRIMARY KEY, note text);
CREATE TABLE drafts (id integer PRIMARY KEY, note text);
SELECT rag_create_pipeline('plants', 'note');
SELECT rag_create_pipeline('tools', 'note', refresh => 'sync');
SELECT rag_create_pipeline('drafts', 'note', refresh => 'manual');
INSERT INTO plants VALUES (1, 'Roses want sun.');
INSERT INTO tools VALUES (1, 'A rake is for leaves.');
INSERT INTO drafts VALUES (1, 'Not finished.');
SET client_min_messages = notice;
SELECT rag_wait(timeout => '2 minutes');
SELECT (SELECT count(*) FROM plants_rag), (SELECT count(*) FROM tools_rag), (SELECT count(*) FROM drafts_rag);
BEGIN;
INSERT INTO plants VALUES (2, 'Beans want warm soil.');
SELECT rag_wait('plants');
COMMIT;
RESET client_min_messages;
SELECT rag_wait('plants', timeout => '2 minutes');
SELECT count(*) FROM plants_rag;
SELECT fails($$SELECT rag_wait('nothing')$$);
DROP TABLE plants, tools, drafts CASCADE;
