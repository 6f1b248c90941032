-- rag_retrieve_batch: many questions at once.
\set SHOW_CONTEXT never
\pset format unaligned
\pset tuples_only on
\pset null NULL
SET client_min_messages = warning;
CREATE TABLE docs (id integer PRIMARY KEY, body text, lang text);
INSERT INTO docs VALUES
    (1, 'To reset a password, open the settings page and choose Reset password.', 'en'),
    (2, 'Invoices are sent on the first day of each month.', 'en'),
    (3, 'Die Sicherung läuft jede Nacht um zwei Uhr.', 'de'),
    (4, 'Visitors park their cars behind the mill.', 'en');
ALTER TABLE docs ENABLE ROW LEVEL SECURITY;
CREATE POLICY english ON docs TO regress_reader USING (lang = 'en');
GRANT SELECT ON docs TO regress_reader;
SELECT rag_create_pipeline('docs', 'body', metadata => ARRAY['lang'], refresh => 'sync');

-- Question by question, best first; of NULL there is nothing, and numbers are those of the array.
SELECT question_no, rank, source_key FROM rag_retrieve_batch(ARRAY['How do I reset a password?', NULL, 'When are invoices sent?', 'Wann läuft die Sicherung?'], k => 1);
SELECT question_no, count(*), min(rank), max(rank) FROM rag_retrieve_batch(ARRAY['password', 'mill'], k => 3) GROUP BY 1 ORDER BY 1;
SELECT array_agg((question_no, rank)) = array_agg((question_no, rank) ORDER BY question_no, rank) FROM rag_retrieve_batch(ARRAY['password', 'mill', 'password'], k => 3);
-- The best as rag_retrieve finds it, in each mode; vectors that are made together differ a little from those made alone.
CREATE TABLE asked AS SELECT array_agg(q) AS questions FROM unnest(ARRAY['How do I reset a password?', 'When are invoices sent?', 'Wann läuft die Sicherung?', 'Where do visitors park their cars?']) AS q;
CREATE FUNCTION agrees(mode text, rewrite text DEFAULT NULL, rerank text DEFAULT NULL, options jsonb DEFAULT '{}', pipeline text DEFAULT NULL) RETURNS text LANGUAGE sql AS $$
    WITH a AS (
        SELECT q.question_no, r.* FROM asked, unnest(questions) WITH ORDINALITY AS q (text, question_no), LATERAL rag_retrieve(q.text, pipeline, 1, mode, NULL, rewrite, rerank, options) AS r
    ), b AS (
        SELECT r.* FROM asked, LATERAL rag_retrieve_batch(questions, pipeline, 1, mode, NULL, rewrite, rerank, options) AS r
    )
    SELECT concat_ws(' ', count(*), bool_and(coalesce((a.source_key, a.content, a.pipeline) = (b.source_key, b.content, b.pipeline), false))) FROM a FULL JOIN b USING (question_no, rank)
$$;
SELECT mode, agrees(mode) FROM unnest(ARRAY['dense', 'lexical', 'hybrid']) AS mode;
SELECT agrees('hybrid', rewrite => 'prf'), agrees('hybrid', rerank => 'late_interaction');
SELECT question_no, min(rank), max(rank) FROM rag_retrieve_batch(ARRAY['password', 'mill'], k => 2, options => '{"retrieve": {"offset": 1}}') GROUP BY 1 ORDER BY 1;
SELECT question_no, source_key FROM rag_retrieve_batch(ARRAY['Sicherung', 'mill'], k => 4, filter => '{"lang": "de"}');

-- Nothing asked, nothing found.
SELECT count(*) FROM rag_retrieve_batch('{}');
SELECT count(*) FROM rag_retrieve_batch(NULL);
SELECT count(*) FROM rag_retrieve_batch(ARRAY[NULL, NULL]::text[]);
SELECT count(*) FROM rag_retrieve_batch((SELECT array_agg(body) FROM docs WHERE false), 'docs');

-- A thousand, some of them again and again; with a LIMIT the others are not looked up.
SELECT count(*), count(DISTINCT question_no), bool_and(rank BETWEEN 1 AND 2) FROM rag_retrieve_batch(ARRAY(SELECT 'What is number ' || i % 300 || '?' FROM generate_series(1, 1000) AS i), k => 2);
SELECT (rag_retrieve_batch(array_fill('mill'::text, ARRAY[200000]), k => 1)).source_key LIMIT 2;

-- As a join of questions and what they find.
SELECT q.id, r.source_key FROM (SELECT array_agg(text ORDER BY id) AS texts FROM (VALUES (7, 'password'), (9, 'invoices')) AS v (id, text)) AS a,
    rag_retrieve_batch(a.texts, 'docs', k => 1) AS r JOIN LATERAL unnest(ARRAY[7, 9]) WITH ORDINALITY AS q (id, no) ON q.no = r.question_no ORDER BY q.id;

-- Several pipelines, and the choice among them.
CREATE TABLE tickets (id integer PRIMARY KEY, note text);
INSERT INTO tickets VALUES (1, 'The customer has forgotten the password.'), (2, 'The parcel was left in the rain.');
SELECT rag_create_pipeline('tickets', 'note', refresh => 'sync');
SELECT mode, agrees(mode, pipeline => '*') FROM unnest(ARRAY['dense', 'lexical', 'hybrid']) AS mode;
SELECT agrees('hybrid', pipeline => '{docs,tickets}'), agrees('hybrid', pipeline => 'auto');
SELECT question_no, pipeline, source_key FROM rag_retrieve_batch(ARRAY['Where is the parcel?', 'When are invoices sent?'], 'auto', k => 1);

-- What cannot be asked, with the number of the question where it is about one.
SELECT fails($$SELECT * FROM rag_retrieve_batch(ARRAY['mill', ' '], 'docs')$$);
SELECT fails($$SELECT * FROM rag_retrieve_batch(ARRAY['mill'])$$);
SELECT fails($$SELECT * FROM rag_retrieve_batch(ARRAY['mill'], 'nowhere')$$);
SELECT fails($$SELECT * FROM rag_retrieve_batch('{}', 'docs', options => '{"retrieve": {"treshold": 1}}')$$);
SELECT fails($$SELECT * FROM rag_retrieve_batch(ARRAY['mill'], 'docs', k => 0)$$);

-- Row-level security decides what is found, and who fetches rows must be who has asked.
SET ROLE regress_reader;
SELECT question_no, source_key FROM rag_retrieve_batch(ARRAY['Sicherung', 'mill'], 'docs', k => 1, mode => 'lexical');
RESET ROLE;
SET ROLE regress_stranger;
SELECT fails($$SELECT * FROM rag_retrieve_batch(ARRAY['mill'], 'docs')$$);
RESET ROLE;
BEGIN;
DECLARE two CURSOR FOR SELECT (rag_retrieve_batch(ARRAY['mill', 'password'], 'docs', k => 1)).source_key;
FETCH 1 FROM two;
SET ROLE regress_reader;
FETCH 1 FROM two;
ROLLBACK;
