-- Several pipelines at once: all, and lists of names.
\set SHOW_CONTEXT never
\pset format unaligned
\pset tuples_only on
\pset null NULL
SET client_min_messages = warning;
CREATE ROLE regress_few;
SELECT fails($$SELECT * FROM rag_retrieve('What opens?', '*')$$);
CREATE TABLE manual (id integer PRIMARY KEY, title text, body text, lang text);
INSERT INTO manual VALUES
    (1, 'Kettle', 'The kettle boils a litre of water in two minutes.', 'en'),
    (2, 'Lamp', 'The lamp E-27 has a warranty of five years.', 'en'),
    (3, 'Lampe', 'Die Lampe E-27 hat fünf Jahre Garantie.', 'de');
CREATE TABLE tickets (id integer PRIMARY KEY, title text, note text, lang text, priority integer);
INSERT INTO tickets VALUES
    (1, 'Flicker', 'The lamp E-27 flickers after a year; the customer asks for a new one.', 'en', 1),
    (2, 'Parcel', 'The parcel was left in the rain.', 'en', 2);
CREATE TABLE "Über, uns" (id integer PRIMARY KEY, body text);
INSERT INTO "Über, uns" VALUES (1, 'The office in Bremen opens at nine.');
SELECT rag_create_pipeline('manual', 'body', metadata => ARRAY['title', 'lang'], refresh => 'sync');
-- Over one pipeline it is that pipeline.
CREATE TABLE alone AS SELECT * FROM rag_retrieve('How long is the warranty of the lamp?', 'manual');
SELECT count(*) = 3 AND bool_and(a = r) FROM alone AS a JOIN rag_retrieve('How long is the warranty of the lamp?', '*') AS r USING (rank);
SELECT rag_create_pipeline('tickets', 'note', metadata => ARRAY['title', 'lang', 'priority'], refresh => 'sync');
SELECT rag_create_pipeline('"Über, uns"', 'body', name => 'Über, uns', refresh => 'sync');

-- What speaks of the question comes first, wherever it is.
SELECT rank, pipeline, source_key, content FROM rag_retrieve('When does the office in Bremen open?', '*', k => 2);
SELECT rank, pipeline, source_key FROM rag_retrieve('How long is the warranty of the lamp E-27?', '*', k => 3);
SELECT rank, pipeline, source_key FROM rag_retrieve('Which parcel was in the rain?', '*', k => 1);
SELECT mode, pipeline, source_key FROM unnest(ARRAY['dense', 'lexical', 'hybrid']) AS mode, rag_retrieve('parcel left in the rain', '*', k => 1, mode => mode);
-- Ranks and scores tell one order, of as many as are wanted, and each pipeline keeps its own.
SELECT count(*), bool_and(score <= before) FROM (SELECT score, lag(score, 1, 'infinity') OVER (ORDER BY rank) AS before FROM rag_retrieve('lamp', '*', k => 4)) AS s;
SELECT bool_and(f.rank = a.rank) FROM
    (SELECT row_number() OVER (ORDER BY rank) AS rank, source_key FROM rag_retrieve('warranty', '*', k => 6) WHERE pipeline = 'manual') AS f
    JOIN rag_retrieve('warranty', 'manual', k => 6) AS a USING (source_key);

-- Lists: names between commas, an array as drivers send it, each once.
SELECT DISTINCT pipeline FROM rag_retrieve('lamp', 'manual, tickets', k => 6) ORDER BY 1;
SELECT DISTINCT pipeline FROM rag_retrieve('lamp', ARRAY['tickets', 'Über, uns', 'tickets']::text, k => 6) ORDER BY 1;
SELECT DISTINCT pipeline FROM rag_retrieve('lamp', '"Über, uns",manual', k => 6) ORDER BY 1;
SELECT DISTINCT pipeline FROM rag_retrieve('lamp', 'Über, uns', k => 6) ORDER BY 1;
SELECT DISTINCT pipeline FROM rag_retrieve('lamp', '{tickets}', k => 6) ORDER BY 1;
PREPARE ask AS SELECT count(*) FROM rag_retrieve($1, $2, k => $3);
EXECUTE ask('lamp', '{manual,tickets}', 4);
SELECT fails($$SELECT * FROM rag_retrieve('lamp', 'manual, nothing')$$);
SELECT fails($$SELECT * FROM rag_retrieve('lamp', 'manual,, tickets')$$);
SELECT fails($$SELECT * FROM rag_retrieve('lamp', '{manual,NULL}')$$);
SELECT fails(format('SELECT * FROM rag_retrieve(''lamp'', %L)', (SELECT string_agg('p' || n, ',') FROM generate_series(1, 33) AS n)));
SELECT fails($$SELECT rag_alter_pipeline('manual', name => '*')$$);

-- A filter holds for each, and each must have its columns.
SELECT pipeline, source_key FROM rag_retrieve('lamp', 'manual, tickets', filter => '{"lang": "de"}');
SELECT fails($$SELECT * FROM rag_retrieve('lamp', '*', filter => '{"lang": "de"}')$$);
SELECT fails($$SELECT * FROM rag_retrieve('lamp', 'manual, tickets', filter => '{"priority": 1}')$$);
SELECT pipeline, metadata FROM rag_retrieve('The lamp flickers', 'manual, tickets', k => 1);

-- Answers cite rows with their pipeline.
SELECT rag_answer('When does the office in Bremen open?', '*');
SELECT c ->> 'pipeline' AS pipeline, c ->> 'source_key' AS key, c ->> 'quote' AS quote
FROM rag_answer_details('Which parcel was left in the rain?', '*'), jsonb_array_elements(citations) AS c;
SELECT DISTINCT c ->> 'pipeline' FROM rag_answer_details('What about the lamp E-27?', 'manual, tickets'), jsonb_array_elements(context) AS c ORDER BY 1;
SELECT rag_answer('How long is the warranty of the lamp E-27?', '*', options => '{"answer": {"max_sentences": 1}, "cite": {"style": "numeric"}}');
SELECT line FROM rag_answer_stream('When does the office in Bremen open?', '*') WITH ORDINALITY AS s (line, n) WHERE n = 1;
SELECT number, pipeline, source_key FROM rag_context('When does the office in Bremen open?', '*', k => 1);
SELECT number, content FROM rag_context('office in Bremen', '*', k => 1, options => '{"context": {"headers": ["pipeline", "source_key"]}}');
SELECT count(*) FROM rag_prompt('When does the office in Bremen open?', '*') WHERE content ~ 'opens at nine';
SELECT stage, detail FROM rag_explain('lamp', '*') WHERE stage IN ('search', 'federate', 'answer');
SELECT rag_answer('Who painted the ceiling of the chapel?', '*');
-- What is ordered or shown by a column, by one that all have.
SELECT count(*) > 0 FROM rag_context('lamp', 'manual, tickets', options => '{"context": {"headers": ["lang"]}}');
SELECT fails($$SELECT * FROM rag_context('lamp', 'manual, tickets', options => '{"context": {"headers": ["priority"]}}')$$);

-- Defaults of each hold for its search, and those that are the same in all for the answer.
SELECT rag_alter_pipeline('manual', defaults => '{"k": 1, "retrieve": {"filter": {"lang": "de"}}, "answer": {"refusal": "No idea."}}');
SELECT pipeline, source_key FROM rag_retrieve('warranty of the lamp', 'manual, tickets') WHERE pipeline = 'manual';
SELECT rag_answer('Who painted the ceiling of the chapel?', 'manual, tickets');
SELECT rag_alter_pipeline('tickets', defaults => '{"answer": {"refusal": "No idea."}}');
SELECT rag_answer('Who painted the ceiling of the chapel?', 'manual, tickets');
SELECT rag_alter_pipeline('manual', defaults => '{}'), rag_alter_pipeline('tickets', defaults => '{}');

-- A role asks those that it may read.
GRANT SELECT ON tickets, tickets_rag, tickets_rag_chunks TO regress_few;
SET ROLE regress_few;
SELECT DISTINCT pipeline FROM rag_retrieve('lamp', '*', k => 6);
SELECT fails($$SELECT * FROM rag_retrieve('lamp', 'manual, tickets')$$);
RESET ROLE;
GRANT SELECT ON manual TO regress_few;
SET ROLE regress_few;
SELECT DISTINCT pipeline FROM rag_retrieve('lamp', '*', k => 6);
SELECT fails($$SELECT * FROM rag_retrieve('lamp', 'manual, tickets')$$);
RESET ROLE;
-- And of their rows those that it may see.
GRANT SELECT ON manual_rag, manual_rag_chunks TO regress_few;
ALTER TABLE manual ENABLE ROW LEVEL SECURITY;
CREATE POLICY german ON manual FOR SELECT USING (lang = 'de');
SET ROLE regress_few;
SELECT pipeline, source_key FROM rag_retrieve('lamp E-27', '*', k => 6) ORDER BY 1, 2;
SELECT rag_answer('How long does the kettle boil?', '*');
RESET ROLE;

-- A conversation goes on over all.
SELECT rag_conversation() AS talk \gset
SELECT rag_answer('When does the office in Bremen open?', '*', options => jsonb_build_object('answer', jsonb_build_object('conversation', :'talk')));
SELECT rag_answer('Which parcel was left in the rain?', 'manual, tickets', options => jsonb_build_object('answer', jsonb_build_object('conversation', :'talk')));
SELECT question, answer FROM rag.conversation_turn ORDER BY id;
-- A trace names them.
SET rag.trace = 'summary';
SELECT trace_id IS NOT NULL FROM rag_answer_details('lamp', 'manual, tickets');
SELECT pipeline FROM rag.trace_log;
RESET rag.trace;
-- An evaluation is of one.
SELECT rag_eval_load('set', '[{"question": "lamp", "relevant": ["1"]}]');
SELECT fails($$SELECT rag_eval('*', 'set')$$);

-- Similarities by different models don't compare, so the passages of the fewer are compared by the model of the more.
SELECT setting || '/pg_rag/models/all-minilm-l6-v2' AS folder FROM pg_config WHERE name = 'SHAREDIR' \gset
SELECT dimension FROM rag_add_model('other', :'folder');
CREATE TABLE notes (id integer PRIMARY KEY, body text);
INSERT INTO notes VALUES (1, 'The kitchen has a coffee machine.'), (2, 'The gate code is 4711.');
SELECT rag_create_pipeline('notes', 'body', model => 'other', refresh => 'sync');
SELECT pipeline, source_key FROM rag_retrieve('Where is a coffee machine?', '*', k => 1);
SELECT pipeline, source_key FROM rag_retrieve('When does the office in Bremen open?', 'notes, manual, "Über, uns"', k => 1);
SELECT rag_answer('What is the gate code?', 'manual, notes');
SELECT rag_drop_pipeline('notes');
SELECT rag_drop_model('other');
DROP OWNED BY regress_few;
DROP ROLE regress_few;
