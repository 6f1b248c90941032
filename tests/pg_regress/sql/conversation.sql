-- rag_conversation, and the option conversation of rag_answer.
\set SHOW_CONTEXT never
\pset format unaligned
\pset tuples_only on
\pset null NULL
SET client_min_messages = warning;

CREATE TABLE docs (id integer PRIMARY KEY, body text);
INSERT INTO docs VALUES
    (1, 'Invoices are sent on the first day of each month.'),
    (2, 'Invoices can be paid by card or by bank transfer.'),
    (3, 'Backups are made every night at two.'),
    (4, 'Backups are kept for thirty days.');
SELECT rag_create_pipeline('docs', 'body', refresh => 'sync');
SELECT rag_conversation('Money') AS c \gset
SELECT jsonb_build_object('answer', jsonb_build_object('conversation', :'c')) AS o \gset
SELECT owner = current_user, title FROM rag.conversation WHERE id = :'c';

-- Titles are of any length. A program that knows what was said finds the conversation by an index, and so do turns theirs,
-- also as a role that sees only its own.
SELECT rag_conversation((SELECT string_agg(md5(n::text), '') FROM generate_series(1, 1000) AS n)) AS long \gset
SELECT length(title) FROM rag.conversation WHERE id = :'long';
SELECT rag_conversation_delete(:'long');
SET ROLE regress_reader;
SET enable_seqscan = off;
SELECT count(*) FROM explained($$SELECT id FROM rag.conversation WHERE owner_id = 1 AND title = 'Money' AND octet_length(title) <= 1000 ORDER BY created_at DESC LIMIT 1$$) AS line WHERE line ~ 'conversation_by_title';
SELECT count(*) FROM explained(format('SELECT question FROM rag.conversation_turn WHERE conversation = %L', :'c')) AS line WHERE line ~ 'conversation_pkey';
RESET enable_seqscan;
RESET ROLE;

-- The first question is looked up as it is; one that leans on it gets its words.
SELECT rag_answer('When are invoices sent?', options => :'o');
SELECT rag_answer('And how can they be paid?', options => :'o');
SELECT question, standalone, answer, trace FROM rag.conversation_turn WHERE conversation = :'c' ORDER BY id;
SELECT stage, detail FROM rag_explain('How?', options => :'o') WHERE stage = 'condense';
-- One that stands alone does not.
SELECT rag_answer('How long are backups kept?', options => :'o');
SELECT standalone FROM rag.conversation_turn WHERE conversation = :'c' ORDER BY id DESC LIMIT 1;
-- Without the conversation, nobody knows what it is about.
SELECT rag_answer('And how can they be paid?') IS NOT NULL;
SELECT count(*) FROM rag.conversation_turn;

-- What is looked up stands in the trace, and the turn leads to the trace.
SET rag.trace = 'full';
SELECT trace_id IS NOT NULL FROM rag_answer_details('Where are they?', options => :'o');
SELECT t.question, l.question FROM rag.conversation_turn t JOIN rag.trace_log l ON l.id = t.trace;
RESET rag.trace;

-- rag_prompt looks, and leaves no turn.
SELECT count(*) AS before FROM rag.conversation_turn \gset
SELECT content ~ 'Question: When is it made\?$' FROM rag_prompt('When is it made?', options => jsonb_build_object('answer', jsonb_build_object('conversation', rag_conversation()))) WHERE role = 'user';
SELECT content ~ 'Question: .+ When is it made\?$' FROM rag_prompt('When is it made?', options => :'o') WHERE role = 'user';
SELECT count(*) = :before FROM rag.conversation_turn;

-- A turn goes with its transaction, and there is none where nothing can be written.
BEGIN;
SELECT rag_answer('When are invoices sent?', options => :'o') IS NOT NULL;
ROLLBACK;
SELECT count(*) = :before FROM rag.conversation_turn;
BEGIN READ ONLY;
SELECT fails(format('SELECT rag_answer(%L, options => %L)', 'When are invoices sent?', :'o'));
SELECT fails('SELECT rag_conversation()');
ROLLBACK;

-- What is no conversation.
SELECT fails($$SELECT rag_answer('x', options => '{"answer": {"conversation": "mine"}}')$$);
SELECT fails($$SELECT rag_answer('x', options => '{"answer": {"conversation": ""}}')$$);
SELECT fails($$SELECT rag_answer('x', options => '{"answer": {"conversation": 1}}')$$);
SELECT fails($$SELECT rag_answer('x', options => '{"answer": {"conversation": "00000000-0000-4000-8000-000000000000"}}')$$);

-- It is its owner's.
GRANT SELECT ON docs, docs_rag, docs_rag_chunks TO regress_reader;
SET ROLE regress_reader;
SELECT count(*) FROM rag.conversation;
SELECT count(*) FROM rag.conversation_turn;
SELECT count(*) FROM fails(format('SELECT rag_answer(%L, options => %L)', 'And how can they be paid?', :'o')) AS line WHERE line ~ 'of another role';
SELECT rag_conversation() AS theirs \gset
SELECT rag_answer('How long are backups kept?', options => jsonb_build_object('answer', jsonb_build_object('conversation', :'theirs')));
SELECT question FROM rag.conversation_turn;
SELECT fails(format('INSERT INTO rag.conversation_turn (conversation, question, standalone, answer) VALUES (%L, %L, %L, %L)', :'theirs', 'x', 'x', 'x'));
SELECT fails($$UPDATE rag.conversation SET owner = 'regress_reader'$$);
SELECT fails($$UPDATE rag.conversation_turn SET answer = 'x'$$);
SELECT fails('DELETE FROM rag.conversation');
SELECT rag_conversation_delete(:'c'), rag_conversation_delete(:'theirs'), rag_conversation_delete(NULL);
SELECT count(*) FROM rag.conversation_turn;
RESET ROLE;
-- Others' are still there; with a conversation go its turns.
SELECT count(*) = :before FROM rag.conversation_turn WHERE conversation = :'c';
DELETE FROM rag.conversation;
SELECT count(*) FROM rag.conversation_turn;
SELECT name, version, description FROM rag.template WHERE name = 'condense';
DROP OWNED BY regress_reader;
