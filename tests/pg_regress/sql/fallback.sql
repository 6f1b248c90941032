-- Other pipelines are asked where the first has no answer.
\set SHOW_CONTEXT never
\pset format unaligned
\pset tuples_only on
SET client_min_messages = warning;

CREATE TABLE faq (id integer PRIMARY KEY, body text NOT NULL);
CREATE TABLE archive (id integer PRIMARY KEY, body text NOT NULL);
CREATE TABLE tickets (id integer PRIMARY KEY, body text NOT NULL);
INSERT INTO faq VALUES (1, 'Invoices are sent on the first day of each month.');
INSERT INTO archive VALUES (1, 'The old mill was painted by Ada Lovell in 1899.');
INSERT INTO tickets VALUES (1, 'The elevator of the library was repaired on Monday by a company from Ghent.');
SELECT rag_create_pipeline('faq', 'body', refresh => 'sync');
SELECT rag_create_pipeline('archive', 'body', refresh => 'sync');
SELECT rag_create_pipeline('tickets', 'body', refresh => 'sync');

CREATE FUNCTION asked(question text, pipeline text, options jsonb) RETURNS text LANGUAGE sql AS $$
    SELECT concat_ws(' | ', answer, supported, pipeline, citations->0->>'pipeline',
                     (SELECT string_agg(concat_ws(' ', o->>'pipeline', o->>'supported', o->>'skipped'), ', ')
                      FROM jsonb_array_elements(usage->'others') AS o))
    FROM rag_answer_details(question, pipeline, options => options)
$$;

-- Nobody else is asked where there is an answer, and one after the other where there is none.
SELECT asked('When are invoices sent?', 'faq', '{"answer": {"fallback": "archive"}}');
SELECT asked('Who painted the old mill?', 'faq', '{"answer": {"fallback": "archive"}}');
SELECT asked('Who repaired the elevator of the library?', 'faq', '{"answer": {"fallback": ["archive", "tickets"]}}');
SELECT asked('Who repaired the elevator of the library?', 'faq', '{"answer": {"fallback": "archive, tickets"}}');
SELECT asked('Who repaired the elevator of the library?', 'faq', '{"answer": {"fallback": ["*"]}}');
SELECT asked('Who won the football world cup in 1998?', 'faq', '{"answer": {"fallback": ["archive", "tickets"]}}');
-- None is asked twice.
SELECT asked('Who won the football world cup in 1998?', 'faq', '{"answer": {"fallback": ["faq", "archive", "archive"]}}');

-- A default of the pipeline; null takes it away, and that of a fallback is not followed.
SELECT rag_alter_pipeline('faq', defaults => '{"answer": {"fallback": "archive"}}');
SELECT rag_alter_pipeline('archive', defaults => '{"answer": {"fallback": "tickets"}}');
SELECT asked('Who painted the old mill?', 'faq', '{}');
SELECT asked('Who painted the old mill?', 'faq', '{"answer": {"fallback": null}}');
SELECT asked('Who repaired the elevator of the library?', 'faq', '{}');
SELECT asked('Who repaired the elevator of the library?', 'archive', '{}');
SELECT stage, detail FROM rag_explain('Who painted the old mill?', 'faq') WHERE stage IN ('answer', 'fallback');

-- A stream tells which one answered.
WITH told AS (SELECT row_number() OVER () AS n, piece FROM rag_answer_stream('Who painted the old mill?', 'faq') AS piece)
SELECT CASE WHEN n = max(n) OVER () THEN concat_ws(' ', piece::jsonb->>'pipeline', piece::jsonb#>>'{usage,others,0,pipeline}') ELSE piece END FROM told ORDER BY n;

-- In a conversation there is one turn.
SELECT jsonb_build_object('answer', jsonb_build_object('conversation', rag_conversation('Mill'))) AS mill \gset
SELECT asked('Who painted the old mill?', 'faq', :'mill');
SELECT question, answer FROM rag.conversation_turn;

-- The rights of the caller hold: a default leads to nothing that the caller may not read, and a call is refused.
GRANT SELECT ON faq, faq_rag, faq_rag_chunks TO regress_reader;
SET ROLE regress_reader;
SELECT asked('Who painted the old mill?', 'faq', '{}');
SELECT fails($$SELECT rag_answer('Who painted the old mill?', 'faq', options => '{"answer": {"fallback": "archive"}}')$$);
RESET ROLE;
GRANT SELECT ON archive TO regress_reader;
SET ROLE regress_reader;
SELECT asked('Who painted the old mill?', 'faq', '{}');
RESET ROLE;
GRANT SELECT ON archive_rag, archive_rag_chunks TO regress_reader;
SET ROLE regress_reader;
SELECT asked('Who painted the old mill?', 'faq', '{}');
RESET ROLE;

-- So does row-level security.
CREATE TABLE notes (id integer PRIMARY KEY, reader name NOT NULL, body text NOT NULL);
INSERT INTO notes VALUES
    (1, 'regress_writer', 'The bell of the chapel was cast in Mechelen.'),
    (2, 'regress_reader', 'The library of Lier opens at nine.');
ALTER TABLE notes ENABLE ROW LEVEL SECURITY;
CREATE POLICY own ON notes USING (reader = current_user);
SELECT rag_create_pipeline('notes', 'body', refresh => 'sync');
GRANT SELECT ON notes, notes_rag, notes_rag_chunks TO regress_reader;
SET ROLE regress_reader;
SELECT asked('Where was the bell of the chapel cast?', 'faq', '{"answer": {"fallback": "notes", "min_confidence": 0.5}}');
SELECT asked('When does the library of Lier open?', 'faq', '{"answer": {"fallback": "notes"}}');
RESET ROLE;
SELECT asked('Where was the bell of the chapel cast?', 'faq', '{"answer": {"fallback": "notes"}}');

-- What is wrong is said.
SELECT fails($$SELECT rag_answer('Who painted the old mill?', 'faq', options => '{"answer": {"fallback": "nowhere"}}')$$);
SELECT fails($$SELECT rag_answer('Who painted the old mill?', 'faq', options => '{"answer": {"fallback": 3}}')$$);
SELECT fails($$SELECT rag_answer('Who painted the old mill?', 'faq', options => '{"answer": {"fallback": ["archive", 3]}}')$$);
SELECT fails($$SELECT rag_answer('Who painted the old mill?', 'faq', options => '{"answer": {"fallback": ""}}')$$);
SELECT fails($$SELECT rag_answer('Who painted the old mill?', 'faq', options => '{"answer": {"fallback": ["1", "2", "3", "4", "5", "6", "7", "8", "9"]}}')$$);
SELECT fails($$SELECT rag_answer('Who painted the old mill?', 'faq', options => '{"answer": {"fall_back": "archive"}}')$$) LIKE '%Did you mean "fallback"?%' AS is_hinted;
SELECT fails($$SELECT rag_alter_pipeline('faq', defaults => '{"answer": {"fallback": ["archive", "nowhere"]}}')$$);
-- A fallback that is gone is left out.
SELECT rag_drop_pipeline('archive');
SELECT asked('Who painted the old mill?', 'faq', '{}');

-- A schema wants a language model.
SELECT fails($$SELECT rag_answer('When are invoices sent?', 'faq', options => '{"answer": {"schema": {"type": "object"}}}')$$);
SELECT fails($$SELECT rag_answer_stream('When are invoices sent?', 'faq', options => '{"answer": {"schema": {}}}')$$);
SELECT fails($$SELECT rag_answer('When are invoices sent?', 'faq', options => '{"answer": {"schema": "object"}}')$$);
SELECT fails($$SELECT rag_answer('When are invoices sent?', 'faq', options => '{"answer": {"schema": [1]}}')$$);
SELECT rag_alter_pipeline('faq', defaults => '{"answer": {"schema": {"type": "object"}}}');
SELECT fails($$SELECT rag_answer('When are invoices sent?', 'faq')$$);
SELECT asked('When are invoices sent?', 'faq', '{"answer": {"schema": null}}');
SELECT content ~ 'Question: When are invoices sent\?\n\nReply with a JSON object of two members' FROM rag_prompt('When are invoices sent?', 'faq') WHERE role = 'user';

-- So does own knowledge, and its mark has to be one.
SELECT rag_alter_pipeline('faq', defaults => '{}');
SELECT fails($$SELECT rag_answer('When are invoices sent?', 'faq', options => '{"answer": {"own_knowledge": true}}')$$);
SELECT fails($$SELECT rag_answer('When are invoices sent?', 'faq', options => '{"answer": {"own_knowledge": "yes"}}')$$);
SELECT fails($$SELECT rag_answer('When are invoices sent?', 'faq', options => '{"answer": {"own_knowledge": true, "schema": {}}}')$$);
SELECT fails($$SELECT rag_answer('When are invoices sent?', 'faq', strategy => 'refine', options => '{"answer": {"own_knowledge": true}}')$$);
SELECT fails($$SELECT rag_answer('When are invoices sent?', 'faq', options => '{"cite": {"own_mark": "[0]"}}')$$);
SELECT content ~ 'write \[0\] in the place of a citation' FROM rag_prompt('When are invoices sent?', 'faq', options => '{"answer": {"own_knowledge": true}}') WHERE role = 'system';

-- The best chunk once more at the end, under its number.
INSERT INTO faq SELECT n, 'Question ' || n || ' is about the garden.' FROM generate_series(2, 4) AS n;
SELECT regexp_count(content, '<<<source 1 '), regexp_count(content, '<<<source 2 '), content ~ '<<<end 1 [0-9a-z]+>>>\s+Question: '
FROM rag_prompt('When are invoices sent?', 'faq', options => '{"context": {"repeat_best": true}}') WHERE role = 'user';
SELECT number, twice.tokens > once.tokens
FROM rag_context('When are invoices sent?', 'faq', k => 2, options => '{"context": {"repeat_best": true}}') AS twice
     JOIN rag_context('When are invoices sent?', 'faq', k => 2) AS once USING (number);
DROP OWNED BY regress_reader;
