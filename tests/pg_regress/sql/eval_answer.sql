-- rag_eval with answers.
\set SHOW_CONTEXT never
\pset format unaligned
\pset tuples_only on
SET client_min_messages = warning;

CREATE TABLE docs (id integer PRIMARY KEY, body text, lang text);
INSERT INTO docs VALUES
    (1, 'To reset a password, open the settings page and choose Reset password.', 'en'),
    (2, 'Invoices are sent on the first day of each month.', 'en'),
    (3, 'Backups are made every night at two and kept for thirty days.', 'de'),
    (4, 'Visitors park their cars behind the mill.', 'en');
SELECT rag_create_pipeline('docs', 'body', metadata => ARRAY['lang'], refresh => 'sync');
SELECT rag_eval_load('help', '[
    {"id": "bill", "question": "When are invoices sent?", "relevant": ["2"], "answer": "on the first day of each month"},
    {"id": "parking", "question": "Where do visitors park their cars?", "relevant": ["4"], "answer": ["Visitors park their cars behind the mill.", "there"]},
    {"id": "cup", "question": "Who won the football world cup in 1998?", "relevant": ["1"]}]'::jsonb);

-- Nothing is answered unless that is wanted.
SELECT count(*) FROM rag_eval('docs', 'help') WHERE metric IN ('faithfulness', 'abstention', 'answer_latency');

-- What is quoted is faithful and cited; what is not known is not answered.
SELECT metric, round(value::numeric, 2), n, difference IS NULL
FROM rag_eval('docs', 'help', k => '{1}', configurations => '{"quoted": {"answer": {"max_sentences": 1}}}', options => '{"answers": true}')
WHERE k IS NULL AND metric NOT LIKE '%latency%' AND metric NOT LIKE '%similarity' AND metric NOT IN ('embedding_tokens', 'answer_relevance', 'answer_correctness');
SELECT metric, value > 0 AND value <= 1.0001, n FROM rag_eval('docs', 'help', k => '{1}', options => '{"answers": true}') WHERE metric IN ('semantic_similarity', 'answer_relevance', 'answer_correctness');
SELECT metric, value > 0, n FROM rag_eval('docs', 'help', k => '{1}', options => '{"answers": true}') WHERE metric = 'answer_latency';

-- Options of retrieval and of answers side by side; each configuration differs from the first.
SELECT configuration, metric, value, difference, p_value
FROM rag_eval('docs', 'help', k => '{1}', configurations => '{"usual": {"answer": {"strategy": "compact"}}, "never": {"answer": {"min_confidence": 1}, "retrieve": {"neighbours": 1}, "cite": {"style": "footnote"}}, "german": {"retrieve": {"filter": {"lang": "de"}}, "k": 1}}', options => '{"answers": true}')
WHERE metric IN ('abstention', 'context_recall');

-- The answers are kept.
SELECT configuration, label, answer FROM rag.eval_result JOIN rag.eval_case ON id = case_id WHERE run = (SELECT max(id) FROM rag.eval_run) AND configuration = 'never' ORDER BY label;
SELECT count(*) > 0 FROM rag.eval_score WHERE metric = 'faithfulness';

-- Without judgements, what holds an expected answer is of use.
INSERT INTO rag.eval_set (name) VALUES ('unjudged');
INSERT INTO rag.eval_case (eval_set, label, question, answers) VALUES
    ('unjudged', 'held', 'How long are backups kept?', '{thirty days}'), ('unjudged', 'nowhere', 'How long are backups kept?', '{forty years}'), ('unjudged', 'open', 'How long are backups kept?', '{}');
SELECT metric, value, n FROM rag_eval('docs', 'unjudged', configurations => '{"one": {"retrieve": {"mode": "lexical"}, "k": 1}}', options => '{"answers": true}') WHERE metric IN ('context_precision', 'context_recall', 'answer_holds', 'needs_review');

-- Each question goes to the pipeline that suits it.
SELECT rag_create_pipeline('docs', 'upper(body)', name => 'loud', refresh => 'sync');
SELECT metric, value FROM rag_eval('auto', 'help', k => '{3}', options => '{"answers": true}') WHERE metric IN ('all_found', 'claims_supported');
SELECT DISTINCT pipeline FROM rag.eval_result WHERE run = (SELECT max(id) FROM rag.eval_run);
SELECT rag_drop_pipeline('loud');

-- What is wrong is said.
-- What only answers need has no effect where there are none.
SELECT count(*) FROM rag_eval('docs', 'help', k => '{1}', configurations => '{"a": {"answer": {"strategy": "compact"}, "verify": {"by": "none"}}}') WHERE metric = 'recall';
SELECT fails($$SELECT * FROM rag_eval('docs', 'help', configurations => '{"a": {"verifer": "none"}}', options => '{"answers": true}')$$);
SELECT fails($$SELECT * FROM rag_eval('docs', 'help', configurations => '{"a": {"answer": {"strategy": "best"}}}', options => '{"answers": true}')$$);
SELECT fails($$SELECT * FROM rag_eval('docs', 'help', configurations => '{"a": {"llm": "nowhere"}}', options => '{"answers": true}')$$);
SELECT fails($$SELECT * FROM rag_eval('docs', 'help', options => '{"judge": "llm"}')$$);
SELECT fails($$SELECT * FROM rag_eval('docs', 'help', options => '{"answers": true, "judge": "llm"}')$$);
