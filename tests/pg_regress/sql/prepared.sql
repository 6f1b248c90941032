-- A session keeps the statements of its searches prepared: what they were prepared for may change.
\set SHOW_CONTEXT never
\pset format unaligned
\pset tuples_only on
SET client_min_messages = warning;
CREATE TABLE doc (id integer PRIMARY KEY, body text, year integer);
INSERT INTO doc SELECT n, format('Report %s speaks of the mill by the river.', n), 1900 + n FROM generate_series(1, 40) AS n;
SELECT rag_create_pipeline('doc', 'body', metadata => ARRAY['year'], refresh => 'sync');
CREATE FUNCTION found(question text, k integer DEFAULT 3, filter jsonb DEFAULT NULL) RETURNS text LANGUAGE sql AS
$$SELECT string_agg(source_key, ' ' ORDER BY source_key::integer) FROM rag_retrieve(question, k => k, filter => filter)$$;

-- Often enough that a plan for all values would be taken, if there were one.
SELECT count(DISTINCT found('Report 7', 1)) FROM generate_series(1, 12);
SELECT n, (SELECT count(*) FROM rag_retrieve('mill', k => n)) FROM unnest(ARRAY[1, 2, 5, 40, 100, 3]) AS n;
SELECT found('mill', 9, jsonb_build_object('year', jsonb_build_object('lt', 1900 + n))) FROM generate_series(2, 9) AS n;
SHOW plan_cache_mode;

-- Rows, columns and tables change.
DELETE FROM doc WHERE id = 7;
SELECT found('Report 7', 40) ~ '\m7\M';
ALTER TABLE doc ADD COLUMN note text;
ALTER TABLE doc RENAME TO report;
ALTER TABLE report RENAME COLUMN year TO anno;
SELECT found('Report 8', 1);
CREATE SCHEMA archive;
ALTER TABLE report SET SCHEMA archive;
SELECT found('Report 8', 1);
ALTER TABLE archive.report SET SCHEMA public;
SELECT rag_alter_pipeline('doc', chunking => '{"max_tokens": 64}');
SELECT rag_wait('doc', '60 seconds');
SELECT found('Report 8', 1);
DO $$ BEGIN EXECUTE 'DROP INDEX ' || (SELECT c.oid::regclass FROM pg_class c JOIN pg_am a ON a.oid = c.relam WHERE a.amname = 'rag_bm25' AND c.relname LIKE 'doc%'); END $$;
SELECT found('Report 8', 1);

-- What is rolled back was never there.
BEGIN;
SELECT rag_drop_pipeline('doc');
SELECT fails($$SELECT found('Report 8')$$);
ROLLBACK;
SELECT found('Report 8', 1);
BEGIN;
INSERT INTO report VALUES (99, 'The kiln.', 2000);
SELECT found('The kiln', 1);
ROLLBACK;
SELECT found('The kiln', 1) = '99';

-- Another role sees what it may.
GRANT SELECT ON report, doc_rag, doc_rag_chunks TO regress_reader;
ALTER TABLE report ENABLE ROW LEVEL SECURITY;
CREATE POLICY even_ones ON report USING (id % 2 = 0);
SELECT count(*) FROM rag_retrieve('Report', k => 100);
SET ROLE regress_reader;
SELECT count(*) FROM rag_retrieve('Report', k => 100);
RESET ROLE;
SELECT count(*) FROM rag_retrieve('Report', k => 100);
SET ROLE regress_reader;
SELECT bool_and(source_key::integer % 2 = 0) FROM rag_retrieve('Report', k => 100);
RESET ROLE;
REVOKE SELECT ON report FROM regress_reader;
SET ROLE regress_reader;
SELECT fails($$SELECT found('Report 8')$$);
RESET ROLE;

-- An error leaves nothing behind, and the settings as they were.
SELECT fails($$SELECT * FROM rag_retrieve('x', filter => '{"year": {"lt": "soon"}}')$$);
SHOW plan_cache_mode;
SELECT found('Report 8', 1);

-- The extensions and all their types are made anew.
SELECT rag_drop_pipeline('doc');
DROP EXTENSION pg_rag, vector CASCADE;
CREATE EXTENSION vector;
CREATE EXTENSION pg_rag;
SELECT rag_create_pipeline('report', 'body', refresh => 'sync');
SELECT found('Report 8', 1);
