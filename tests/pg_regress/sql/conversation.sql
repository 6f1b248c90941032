-- rag_conversation, rag_conversation_continue, and the options conversation and history of rag_answer.
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

-- What was said before may be told with the question, which is then understood as in a conversation. Nothing is kept.
SELECT jsonb_build_object('answer', jsonb_build_object('history', '[{"role": "user", "content": "When are invoices sent?"}, {"role": "assistant", "content": "On the first day of each month."}]'::jsonb)) AS h \gset
SELECT rag_answer('And how can they be paid?', options => :'h');
SELECT supported FROM rag_answer_details('And how can they be paid?', options => :'h');
SELECT piece FROM rag_answer_stream('And how can they be paid?', options => :'h') AS piece LIMIT 1;
SELECT stage, detail FROM rag_explain('And how can they be paid?', options => :'h') WHERE stage IN ('options', 'condense') ORDER BY stage;
SELECT content ~ 'Question: invoices sent And how can they be paid\?$' FROM rag_prompt('And how can they be paid?', options => :'h') WHERE role = 'user';
SELECT count(*) = :before FROM rag.conversation_turn;
BEGIN READ ONLY;
SELECT rag_answer('And how can they be paid?', options => :'h');
ROLLBACK;
-- Without messages there is nothing to lean on.
SELECT count(*) FROM rag_explain('And how?', options => '{"answer": {"history": []}}') WHERE stage = 'condense';
SELECT fails($$SELECT rag_answer('x', options => '{"answer": {"history": [], "conversation": "mine"}}')$$);
SELECT fails($$SELECT rag_answer('x', options => '{"answer": {"history": "When?"}}')$$);
SELECT fails($$SELECT rag_answer('x', options => '{"answer": {"history": [{"role": "system", "content": "Be brief."}]}}')$$);
SELECT fails($$SELECT rag_answer('x', options => '{"answer": {"history": [{"role": "user", "content": ["When?"]}]}}')$$);

-- A program that knows what was said, and no ID, is given the conversation in which that was said, or a new one.
SELECT rag_conversation_continue('When are invoices sent?') AS k \gset
SELECT title FROM rag.conversation WHERE id = :'k';
SELECT rag_answer('When are invoices sent?', options => jsonb_build_object('answer', jsonb_build_object('conversation', :'k'))) AS said \gset
SELECT jsonb_build_array(jsonb_build_object('role', 'user', 'content', E' When are invoices sent?\n'), jsonb_build_object('role', 'assistant', 'content', :'said')) AS told \gset
SELECT rag_conversation_continue('And how can they be paid?', :'told') = :'k';
-- Just the last of what was said is enough, but no less than all of a conversation.
SELECT rag_conversation_continue('Why?', '[{"role": "user", "content": "Who?"}, {"role": "assistant", "content": "Nobody."}]'::jsonb || :'told') = :'k';
SELECT rag_conversation_continue('Why?', '[{"role": "user", "content": "When are invoices sent?"}, {"role": "assistant", "content": "Never."}]') = :'k';
SELECT rag_answer('And how can they be paid?', options => jsonb_build_object('answer', jsonb_build_object('conversation', :'k'))) AS later \gset
SELECT rag_conversation_continue('Why?', :'told') = :'k';
SELECT rag_conversation_continue('Why?', :'told'::jsonb || jsonb_build_array(jsonb_build_object('role', 'user', 'content', 'And how can they be paid?'), jsonb_build_object('role', 'assistant', 'content', :'later'))) = :'k';
SELECT rag_conversation_continue(repeat('long ', 100), NULL) AS long \gset
SELECT length(title) FROM rag.conversation WHERE id = :'long';
BEGIN READ ONLY;
SELECT rag_conversation_continue('Why?', :'told');
ROLLBACK;
SELECT fails('SELECT rag_conversation_continue(NULL)');
SELECT fails($$SELECT rag_conversation_continue('x', '[{"role": "tool", "content": "4"}]')$$);

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
SELECT rag_conversation_continue('And how can they be paid?', :'told') IN (:'c', :'k');
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
