-- rag_explain, rag.trace, rag_feedback, rag_trace_purge.
\set SHOW_CONTEXT never
\pset format unaligned
\pset tuples_only on
\pset null NULL
SET client_min_messages = warning;

CREATE TABLE docs (id integer PRIMARY KEY, body text, lang text);
INSERT INTO docs VALUES
    (1, 'To reset a password, open the settings page and choose Reset password.', 'en'),
    (2, 'Invoices are sent on the first day of each month. They can be paid by card.', 'en'),
    (3, 'Backups are made every night at two. They are kept for thirty days.', 'de');
SELECT rag_create_pipeline('docs', 'body', metadata => ARRAY['lang'], refresh => 'sync');

-- Each step of an answer, in the order in which they began, with figures that are its own.
SELECT step, stage, replace(regexp_replace(detail, 'confidence [0-9.]+', 'confidence ...'), ', remembered', ''), rows, cost FROM rag_explain('When are invoices sent?');
SELECT bool_and(ms >= 0), sum(ms) > 0, sum(tokens) > 0, bool_and(stage IN ('embed', 'reader')) FILTER (WHERE tokens > 0) FROM rag_explain('How long are backups kept, I wonder?');
SELECT stage, rows FROM rag_explain('When are invoices sent?', 'docs', k => 1, mode => 'lexical', filter => '{"lang": "en"}');
SELECT stage, replace(regexp_replace(detail, 'confidence [0-9.]+', 'confidence ...'), ', remembered', ''), rows FROM rag_explain('When are invoices sent?', mode => 'dense', options => '{"retrieve": {"rewrite": "prf", "rerank": "late_interaction", "neighbours": 1}}');
-- What was asked of late is remembered.
SELECT detail, tokens FROM rag_explain('When are invoices sent?') WHERE stage = 'embed' AND rows = 1;
-- It answers nothing else than rag_answer does, and fails as that does.
SELECT fails($$SELECT * FROM rag_explain(NULL)$$);
SELECT fails($$SELECT * FROM rag_explain('x', 'nowhere')$$);
SELECT fails($$SELECT * FROM rag_explain('x', options => '{"colour": 1}')$$);
-- After an error nobody records any more, and the next one is whole.
SELECT count(*) > 5 FROM rag_explain('When are invoices sent?');

-- Off by default: nothing is kept.
SHOW rag.trace;
SELECT trace_id FROM rag_answer_details('When are invoices sent?');
SELECT count(*) FROM rag.trace_log;
SET rag.trace = 'much';

-- Summary: figures, and no word of anybody.
SET rag.trace = 'summary';
SELECT trace_id IS NOT NULL FROM rag_answer_details('When are invoices sent?');
SELECT owner = current_user, pipeline, strategy, llm, question, answer, citations, supported, confidence > 0.5, llm_calls, llm_tokens, cost, ms > 0 FROM rag.trace_log;
SELECT s->>'stage', s->>'depth', s->>'rows', s ? 'text', (SELECT string_agg(k, ',' ORDER BY k) FROM jsonb_object_keys(s) k) FROM rag.trace_log, jsonb_array_elements(steps) AS s;
SELECT count(*) FROM rag.trace_log WHERE (trace_log.*)::text ~* 'invoice';

-- Full: question, answer and citations too.
SET rag.trace = 'full';
SELECT rag_answer('When are invoices sent?', options => '{"answer": {"max_sentences": 1}}');
SELECT question, answer, citations->0->>'source_key' FROM rag.trace_log ORDER BY created_at DESC LIMIT 1;
-- rag_explain is an answer as well.
SELECT count(*) > 0 FROM rag_explain('Who keeps the keys?');
SELECT question, supported FROM rag.trace_log ORDER BY created_at DESC LIMIT 1;
-- The ID leads to the trace.
SELECT trace_id AS id FROM rag_answer_details('How are invoices paid?') \gset
SELECT question FROM rag.trace_log WHERE id = :'id';
SELECT count(*) AS before FROM rag.trace_log \gset
-- What failed or was rolled back has left none.
SELECT fails($$SELECT rag_answer('x', k => 0)$$);
BEGIN;
SELECT rag_answer('When are invoices sent?') IS NOT NULL;
ROLLBACK;
SELECT count(*) = :before FROM rag.trace_log;
-- In a transaction that only reads there is an answer and no trace.
BEGIN READ ONLY;
SELECT answer IS NOT NULL, trace_id FROM rag_answer_details('When are invoices sent?');
COMMIT;
SELECT count(*) = :before FROM rag.trace_log;

-- What people think of it.
SELECT trace_id AS id FROM rag_answer_details('How long are backups kept?') \gset
SELECT rag_feedback(:'id', 1) = :'id';
SELECT rag_feedback(:'id', 0.25, 'too short') = :'id';
SELECT rag_feedback(trace_id, 0.75, 'in one statement') = trace_id FROM rag_answer_details('How long are backups kept?');
SELECT score, comment, owner = current_user FROM rag.feedback ORDER BY id;
SELECT fails(format('SELECT rag_feedback(%L, 1.5)', :'id'));
SELECT fails(format('SELECT rag_feedback(%L, %L)', :'id', 'NaN'));
SELECT fails(format('SELECT rag_feedback(%L, NULL)', :'id'));
SELECT fails('SELECT rag_feedback(NULL, 1)');
SELECT fails($$SELECT rag_feedback('00000000-0000-4000-8000-000000000000', 1)$$);
BEGIN READ ONLY;
SELECT fails(format('SELECT rag_feedback(%L, 1)', :'id'));
ROLLBACK;

-- Traces are their owner's.
GRANT SELECT ON docs, docs_rag, docs_rag_chunks TO regress_reader, regress_stranger;
SET ROLE regress_reader;
SELECT count(*) FROM rag.trace_log;
SELECT count(*) FROM rag.feedback;
SELECT count(*) FROM fails(format('SELECT rag_feedback(%L, 1)', :'id')) AS line WHERE line ~ 'or is of another role';
SELECT trace_id AS theirs FROM rag_answer_details('How long are backups kept?') \gset
SELECT owner, question FROM rag.trace_log;
SELECT rag_feedback(:'theirs', 0.5, 'so so') = :'theirs';
SELECT score, comment, owner FROM rag.feedback;
SELECT fails($$INSERT INTO rag.trace_log SELECT * FROM rag.trace_log$$);
SELECT fails($$UPDATE rag.trace_log SET answer = 'x'$$);
SELECT fails($$INSERT INTO rag.feedback (trace, owner, score) SELECT id, 'regress_reader', 1 FROM rag.trace_log$$);
SET ROLE regress_stranger;
SELECT count(*) FROM rag.trace_log;
SELECT count(*) FROM rag.feedback;
SELECT count(*) FROM fails(format('SELECT rag_feedback(%L, 1)', :'theirs')) AS line WHERE line ~ 'or is of another role';
SELECT rag_trace_purge('0'), rag_trace_delete(:'theirs');
SELECT fails('DELETE FROM rag.trace_log');
SET ROLE regress_reader;
SELECT rag_trace_delete(:'theirs'), rag_trace_delete(:'theirs');
SELECT count(*) FROM rag.feedback;
RESET ROLE;

-- Bad answers become questions of an evaluation set.
SELECT t.question, min(f.score) FROM rag.trace_log t JOIN rag.feedback f ON f.trace = t.id WHERE t.owner = current_user GROUP BY t.id HAVING min(f.score) < 0.5;
-- What is old goes, with what was said of it.
SELECT rag_trace_purge('1 day'), rag_trace_purge(NULL);
SELECT fails($$SELECT rag_trace_purge('-1 day')$$);
SELECT rag_trace_purge('0') > 0;
SELECT count(*) FROM rag.trace_log;
SELECT count(*) FROM rag.feedback;
RESET rag.trace;
DROP OWNED BY regress_reader, regress_stranger;
