-- rag_optimize.
\set SHOW_CONTEXT never
\pset format unaligned
\pset tuples_only on
SET client_min_messages = warning;

CREATE TABLE docs (id integer PRIMARY KEY, body text, lang text DEFAULT 'en');
INSERT INTO docs (id, body) VALUES
    (1, 'To reset a password, open the settings page and choose Reset password.'),
    (2, 'Invoices are sent on the first day of each month.'),
    (3, 'Backups are made every night at two and kept for thirty days.'),
    (4, 'Visitors park their cars behind the mill.'),
    (5, 'Error E4711 means that the printer is out of paper.'),
    (6, 'The canteen serves lunch from noon to two.');
SELECT rag_create_pipeline('docs', 'body', metadata => ARRAY['lang'], refresh => 'sync',
    defaults => '{"retrieve": {"mode": "lexical", "filter": {"lang": "de"}}}');
SELECT rag_eval_load('help', '[
    {"question": "How do I reset a password?", "relevant": ["1"]},
    {"question": "When are invoices sent?", "relevant": ["2"]},
    {"question": "How long are backups kept?", "relevant": ["3"]},
    {"question": "Where do visitors park their cars?", "relevant": ["4"]},
    {"question": "What does error E4711 mean?", "relevant": ["5"]},
    {"question": "When does the canteen serve lunch?", "relevant": ["6"]}]');

-- What is asked for must make sense, which is said before anything is asked.
SELECT fails($$SELECT rag_optimize()$$);
SELECT fails($$SELECT rag_optimize(search_space => '{}')$$);
SELECT fails($$SELECT rag_optimize(search_space => '[]')$$);
SELECT fails($$SELECT rag_optimize(search_space => '{"k": 3}')$$);
SELECT fails($$SELECT rag_optimize(search_space => '{"k": [0]}')$$);
SELECT fails($$SELECT rag_optimize(search_space => '{"retrieve.mod": ["dense"]}')$$);
SELECT fails($$SELECT rag_optimize(search_space => '{"mode": ["dense"]}')$$);
SELECT fails($$SELECT rag_optimize(search_space => '{"k": [1], "pipeline": ["nothing"]}')$$);
SELECT fails($$SELECT rag_optimize(configurations => '{"usual": {}}')$$);
SELECT fails($$SELECT rag_optimize(metric => 'ndgc', search_space => '{"k": [1]}')$$);
SELECT fails($$SELECT rag_optimize(metric => 'latency_p95', search_space => '{"k": [1]}')$$);
SELECT fails($$SELECT rag_optimize(metric => 'mrr@0', search_space => '{"k": [1]}')$$);
SELECT fails($$SELECT rag_optimize(metric => 'span_recall', search_space => '{"k": [1]}')$$);
SELECT fails($$SELECT rag_optimize(eval_set => 'nothing', search_space => '{"k": [1]}')$$);
SELECT fails($$SELECT rag_optimize('nothing', search_space => '{"k": [1]}')$$);
SELECT fails($$SELECT rag_optimize('*', search_space => '{"k": [1]}')$$);
SELECT fails($$SELECT rag_optimize(search_space => '{"k": [1]}', options => '{"methd": "grid"}')$$);
SELECT fails($$SELECT rag_optimize(search_space => '{"k": [1]}', options => '{"method": "random"}')$$);
SELECT fails($$SELECT rag_optimize(search_space => '{"k": [1]}', options => '{"eta": 1}')$$);
SELECT fails($$SELECT rag_optimize(search_space => '{"k": [1]}', options => '{"training": 1}')$$);
SELECT fails($$SELECT rag_optimize(search_space => '{"k": [1]}', options => '{"budget": {"calls": 0}}')$$);
SELECT fails($$SELECT rag_optimize(search_space => '{"k": [1]}', options => '{"budget": {"call": 1}}')$$);
SELECT fails($$SELECT rag_optimize(search_space => '{"k": [1]}', options => '{"keep": true}')$$);
SELECT fails($$SELECT rag_optimize(search_space => '{"k": [1]}', options => '{"judge": "llm"}')$$);
SELECT fails($$SELECT rag_optimize(search_space => '{"k": [1]}', options => '{"budget": {"seconds": 1e-9}}')$$);
SELECT rag_eval_load('one', '[{"id": "a", "question": "Why?", "relevant": ["1"]}, {"id": "b", "question": " why?", "relevant": ["1"]}]');
SELECT fails($$SELECT rag_optimize('docs', 'one', search_space => '{"k": [1]}')$$);
SELECT rag_eval_delete('one');

-- The defaults find nothing. Of those that find all, the first is chosen.
SELECT configuration, options, is_chosen, training, training_n, held_out, ci_low, ci_high, held_out_n, difference, p_value, latency_ms > 0, llm_tokens, cost
FROM rag_optimize(metric => 'mrr', search_space => '{"retrieve.filter": [{"lang": "de"}, {"lang": "en"}], "k": [2, 3]}', options => '{"method": "grid"}');
-- By halving, those that are left out have seen fewer questions, and no held-out one.
SELECT rag_eval_load('many', jsonb_agg(jsonb_build_object('question', 'Where do visitors of house ' || n || ' park their cars?', 'relevant', '["4"]'::jsonb))) FROM generate_series(1, 24) AS n;
SELECT count(*), count(held_out), min(training_n), max(training_n), min(held_out_n), max(held_out_n), bool_or(is_chosen AND configuration LIKE '%"en"%')
FROM rag_optimize('docs', 'many', 'mrr@3', '{"retrieve.filter": [{"lang": "de"}, {"lang": "en"}], "k": [1, 2, 3, 4, 5, 6, 7, 8]}');
SELECT rag_eval_delete('many');
-- The same seed, the same choice.
SELECT count(*) = 0 FROM (
    SELECT configuration, training, held_out, is_chosen FROM rag_optimize(search_space => '{"k": [1, 2]}', options => '{"seed": 7}')
    EXCEPT ALL
    SELECT configuration, training, held_out, is_chosen FROM rag_optimize(search_space => '{"k": [1, 2]}', options => '{"seed": 7}')) AS e;
-- Named configurations, one of which may be the defaults, and answers.
SELECT configuration, is_chosen, training > 0, held_out > 0, held_out_n
FROM rag_optimize(metric => 'claims_supported', configurations => '{"english": {"retrieve": {"filter": {"lang": "en"}}}, "now": {}}');
SELECT configuration, is_chosen FROM rag_optimize(metric => 'context_similarity', configurations => '{"english": {"retrieve": {"filter": {"lang": "en"}}}}');
-- Nothing is kept.
SELECT count(*) FROM rag.eval_run;

-- What is chosen becomes a default beside the others.
SELECT configuration FROM rag_optimize(metric => 'mrr', apply => true, search_space => '{"retrieve.filter": [{"lang": "en"}]}') WHERE is_chosen;
SELECT defaults FROM rag.pipeline;
-- Where nothing is better, the defaults stay.
SELECT configuration FROM rag_optimize(metric => 'mrr', apply => true, search_space => '{"retrieve.filter": [{"lang": "en"}, {"lang": "de"}]}') WHERE is_chosen;
SELECT defaults FROM rag.pipeline;
-- What could not be a default is refused before anything is asked.
SELECT fails($$SELECT rag_optimize(apply => true, search_space => '{"answer.template": ["standard", "nothing"]}')$$);
SELECT fails($$SELECT rag_optimize(apply => true, search_space => '{"pipeline": ["docs"]}')$$);
SELECT fails($$SELECT rag_optimize('auto', apply => true, search_space => '{"k": [1]}')$$);
SELECT fails($$SELECT rag_optimize(apply => true, search_space => '{"retrieve.route": ["llm"]}')$$);
BEGIN READ ONLY;
SELECT configuration FROM rag_optimize(metric => 'mrr', search_space => '{"retrieve.filter": [{"lang": "de"}]}') WHERE is_chosen;
SELECT fails($$SELECT rag_optimize(apply => true, search_space => '{"k": [1]}')$$);
ROLLBACK;

-- A role asks with its own rights, its own sets, and changes no pipeline of others.
GRANT SELECT ON docs, docs_rag, docs_rag_chunks TO regress_reader;
GRANT EXECUTE ON FUNCTION fails TO PUBLIC;
SET ROLE regress_reader;
SELECT fails($$SELECT rag_optimize('docs', 'help', search_space => '{"k": [1]}')$$);
SELECT rag_eval_load('own', '[{"question": "Where do visitors park their cars?", "relevant": ["4"]}, {"question": "When are invoices sent?", "relevant": ["2"]}]');
SELECT configuration, is_chosen, training, held_out, difference FROM rag_optimize('docs', 'own', 'mrr@1', '{"retrieve.filter": [{"lang": "de"}]}');
SELECT fails($$SELECT rag_optimize('docs', 'own', search_space => '{"k": [1]}', apply => true)$$);
RESET ROLE;
