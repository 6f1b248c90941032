-- rag.answer_log: what was asked, answered, refused and disliked.
\set SHOW_CONTEXT never
\pset format unaligned
\pset tuples_only on
\pset null NULL
SET client_min_messages = warning;
CREATE TABLE docs (id integer PRIMARY KEY, body text);
INSERT INTO docs VALUES
    (1, 'To reset a password, open the settings page and choose Reset password.'),
    (2, 'Invoices are sent on the first day of each month. They can be paid by card.');
GRANT SELECT ON docs TO regress_reader, regress_writer;
SELECT rag_create_pipeline('docs', 'body', refresh => 'sync');

-- Columns with types, each with a comment.
SELECT attname, format_type(atttypid, atttypmod), col_description(attrelid, attnum) IS NOT NULL FROM pg_attribute WHERE attrelid = 'rag.answer_log'::regclass AND attnum > 0 ORDER BY attnum;

-- Nothing is kept unless it is wanted; with summary there are no words.
SELECT count(*) FROM rag_answer_details('When are invoices sent?');
SELECT count(*) FROM rag.answer_log;
SET rag.trace = 'summary';
SELECT rag_answer('When are invoices sent?') IS NOT NULL;
SELECT role = current_user, pipeline, strategy, llm, question, answer, refused, confidence > 0.5, latency_ms > 0, llm_tokens, cost, ratings, rating, disliked, comments FROM rag.answer_log;

-- What was answered, refused and disliked.
SET rag.trace = 'full';
SELECT trace_id AS paid FROM rag_answer_details('How are invoices paid?', options => '{"answer": {"max_sentences": 1}}') \gset
SELECT trace_id AS moon FROM rag_answer_details('Who was the first man on the moon?') \gset
SELECT count(rag_feedback(:'paid', score, comment)) FROM (VALUES (0.25, 'by card'), (0.5, NULL), (0, '')) AS v (score, comment);
SELECT rag_feedback(:'moon', 1) IS NOT NULL;
SELECT question, answer, refused, ratings, rating, disliked, comments FROM rag.answer_log WHERE question IS NOT NULL ORDER BY answered_at;
SELECT count(*) AS times, question FROM rag.answer_log WHERE refused AND answered_at > now() - interval '7 days' GROUP BY question;
SELECT question FROM rag.answer_log WHERE disliked;
SELECT trace_id = :'paid' FROM rag.answer_log AS l JOIN rag.trace_log AS t ON t.id = l.trace_id WHERE jsonb_array_length(t.steps) > 0 AND disliked;
-- A stream that is not read to its end.
BEGIN;
DECLARE pieces CURSOR FOR SELECT * FROM rag_answer_stream('When are invoices sent?');
FETCH 1 FROM pieces;
CLOSE pieces;
COMMIT;
SELECT refused, count(*) FROM rag.answer_log GROUP BY 1 ORDER BY 1;

-- A role sees its own, a member that of its roles, and nobody writes.
SET ROLE regress_reader;
SELECT count(*) FROM rag.answer_log;
SELECT rag_answer('How do I reset a password?') IS NOT NULL;
SELECT role, question, refused FROM rag.answer_log;
SELECT fails('DELETE FROM rag.answer_log');
SET ROLE regress_writer;
SELECT count(*) FROM rag.answer_log;
RESET ROLE;
GRANT regress_reader TO regress_writer;
SET ROLE regress_writer;
SELECT role, question FROM rag.answer_log;
RESET ROLE;
REVOKE regress_reader FROM regress_writer;
-- Who owns the pipeline is not told what others ask.
GRANT ALL ON SCHEMA public TO regress_owner;
ALTER TABLE docs OWNER TO regress_owner;
SET ROLE regress_owner;
SELECT count(*) FROM rag.answer_log;
RESET ROLE;

-- What is purged is gone here, too.
SELECT rag_trace_delete(:'paid');
SELECT count(*) FROM rag.answer_log WHERE disliked;
SELECT rag_trace_purge('0') > 0;
SELECT count(*) FROM rag.answer_log;
RESET rag.trace;
ALTER TABLE docs OWNER TO CURRENT_USER;
DROP OWNED BY regress_owner, regress_reader, regress_writer;
