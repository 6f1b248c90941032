-- rag_eval, rag_eval_load.
\set SHOW_CONTEXT never
\pset format unaligned
\pset tuples_only on
SET client_min_messages = warning;

CREATE TABLE docs (id integer PRIMARY KEY, body text, lang text);
INSERT INTO docs VALUES
    (1, 'To reset a password, open the settings page and choose Reset password.', 'en'),
    (2, 'Invoices are sent on the first day of each month.', 'en'),
    (3, 'Die Sicherung läuft jede Nacht um zwei Uhr.', 'de'),
    (4, 'Visitors park their cars behind the mill.', 'en'),
    (5, 'Error E4711 means that the printer is out of paper.', 'en');
SELECT rag_create_pipeline('docs', 'body', metadata => ARRAY['lang'], refresh => 'sync');

-- There must be a set, with cases.
SELECT fails('SELECT * FROM rag_eval()');
INSERT INTO rag.eval_set (name) VALUES ('empty');
SELECT fails('SELECT * FROM rag_eval()');
DELETE FROM rag.eval_set;

-- From JSON: as a value, as an untyped literal, as BEIR keeps it.
SELECT rag_eval_load('help', '[
    {"id": "pw", "question": "How do I reset my password?", "relevant": ["1"], "answer": "Reset password"},
    {"id": "bill", "question": "When are invoices sent?", "relevant": [{"source_key": 2, "grade": 2}, {"source_key": "5", "grade": 1}], "answer": ["first day", "1st"]},
    {"id": "parking", "question": "Where do visitors park their cars?", "relevant": ["4"]}]'::jsonb);
SELECT rag_eval_load('help', '[{"id": "paper", "text": "What does E4711 mean?", "relevant": [{"source_key": "5", "chunk_no": 0}]}]');
SELECT rag_eval_load('beir', '{"queries": [{"_id": "q1", "text": "invoices"}, {"_id": "q2", "text": "unjudged"}], "qrels": {"q1": {"2": 1, "1": 0}}}');
SELECT eval_set, label, question, answers, relevant, filter FROM rag.eval_case ORDER BY id;
-- A case of the same label is replaced.
SELECT rag_eval_load('beir', '[{"id": "q1", "question": "When are invoices sent?", "relevant": ["2"]}]');
SELECT label, question FROM rag.eval_case WHERE eval_set = 'beir';

-- The figures: 1 where all is found at once; one of two relevant rows is not asked for.
SELECT fails('SELECT * FROM rag_eval()');
SELECT metric, k, round(value::numeric, 4), n, ci_low <= value AND value <= ci_high, difference, p_value
FROM rag_eval('docs', 'help', k => '{1}', configurations => '{"lexical": {"retrieve": {"mode": "lexical"}}}')
WHERE metric NOT LIKE 'latency%';
SELECT metric, k, value > 0, n FROM rag_eval('docs', 'help', k => '{1}') WHERE metric LIKE 'latency%' OR metric = 'embedding_tokens';

-- k is sorted, and each is there once.
SELECT array_agg(k ORDER BY ord) FROM rag_eval('docs', 'beir', k => '{5, 1, 5}', options => '{"keep": false}') WITH ORDINALITY AS e (configuration, metric, k, value, ci_low, ci_high, n, difference, p_value, ord) WHERE metric = 'mrr';

-- Configurations in their order; the first is what the others are compared with.
SELECT configuration, metric, round(value::numeric, 4) AS value, round(difference::numeric, 4) AS difference, p_value
FROM rag_eval('docs', 'help', k => '{1}', configurations => '{"lexical": {"retrieve": {"mode": "lexical"}}, "german": {"retrieve": {"mode": "lexical", "filter": {"lang": "de"}}}, "again": {"retrieve": {"mode": "lexical"}}}')
WHERE metric IN ('mrr', 'answer_found');

-- The same scores give the same figures.
SELECT count(*) = 0 AS same FROM (
    (SELECT * FROM rag_eval('docs', 'help', options => '{"keep": false}') EXCEPT ALL SELECT * FROM rag_eval('docs', 'help', options => '{"keep": false}'))) AS e
WHERE metric NOT LIKE 'latency%';

-- Spans: half of the reference is in the one chunk that there is.
SELECT rag_eval_load('spans', '[{"question": "Where do visitors park their cars?", "relevant": [{"source_key": "4", "start_char": 0, "end_char": 20}, {"source_key": "4", "start_char": 41, "end_char": 61}]}]');
SELECT metric, round(value::numeric, 4) FROM rag_eval('docs', 'spans', k => '{1}', configurations => '{"lexical": {"retrieve": {"mode": "lexical"}}}') WHERE k = 1;

-- A filter of the case holds beside that of the configuration.
INSERT INTO rag.eval_set (name) VALUES ('filtered');
INSERT INTO rag.eval_case (eval_set, question, relevant, filter) VALUES ('filtered', 'Where do visitors park?', '["4"]', '{"lang": "de"}');
SELECT value FROM rag_eval('docs', 'filtered', k => '{3}') WHERE metric = 'recall';

-- Context, without a language model.
SELECT metric, k, value BETWEEN 0.5 AND 1.0001, n FROM rag_eval('docs', 'help', k => '{1}', options => '{"context": "similarity", "context_k": 2}') WHERE metric LIKE '%similarity';

-- Another pipeline over the same rows.
SELECT rag_create_pipeline('docs', 'upper(body)', name => 'loud', refresh => 'sync');
SELECT configuration, value, difference FROM rag_eval(eval_set => 'beir', k => '{1}', configurations => '{"quiet": {"pipeline": "docs", "retrieve": {"mode": "lexical"}}, "loud": {"pipeline": "loud", "retrieve": {"mode": "lexical"}}}') WHERE metric = 'recall';

-- What is wrong is said.
SELECT fails($$SELECT * FROM rag_eval('docs', 'nothing')$$);
SELECT fails($$SELECT * FROM rag_eval('nothing', 'help')$$);
SELECT fails($$SELECT * FROM rag_eval('docs', 'help', k => '{}')$$);
SELECT fails($$SELECT * FROM rag_eval('docs', 'help', k => '{0}')$$);
SELECT fails($$SELECT * FROM rag_eval('docs', 'help', k => '{NULL}')$$);
SELECT fails($$SELECT * FROM rag_eval('docs', 'help', configurations => '{}')$$);
SELECT fails($$SELECT * FROM rag_eval('docs', 'help', configurations => '{"a": {"mod": "dense"}}')$$);
SELECT fails($$SELECT * FROM rag_eval('docs', 'help', configurations => '{"a": {"retrieve": {"mode": "loud"}}}')$$);
SELECT fails($$SELECT * FROM rag_eval('docs', 'help', configurations => '{"a": {}, "a": {}}')$$);
SELECT fails($$SELECT * FROM rag_eval('docs', 'help', options => '{"seeds": 1}')$$);
SELECT fails($$SELECT * FROM rag_eval('docs', 'help', options => '{"confidence": 1}')$$);
SELECT fails($$SELECT * FROM rag_eval('docs', 'help', options => '{"context": "llm"}')$$);
INSERT INTO rag.eval_case (eval_set, question, relevant) VALUES ('filtered', 'Why?', '[{"source": 1}]');
SELECT fails($$SELECT * FROM rag_eval('docs', 'filtered')$$);
SELECT fails($$SELECT rag_eval_load('x', '[{"question": "Why?"}]')$$);
SELECT fails($$SELECT rag_eval_load('x', '[{"question": "Why?", "relevant": ["1"]}, {"question": "Why?", "relevant": ["2"]}]')$$);
SELECT fails($$SELECT rag_eval_load('x', NULL::jsonb)$$);
SELECT fails($$SELECT rag_eval_load(NULL, '[]'::jsonb)$$);
SELECT fails($$SELECT rag_eval_load('x', 'queries')$$);
SELECT fails($$SELECT rag_eval_load('x', '/nowhere')$$);
SELECT fails($$SELECT rag_eval_load('x', '[1')$$);
SELECT fails($$INSERT INTO rag.eval_case (eval_set, question) VALUES ('nowhere', 'Why?')$$);

-- Runs are kept, so a regression is a query.
SELECT count(*) > 3, bool_and(owner = current_user) FROM rag.eval_run;
DELETE FROM rag.eval_run;
SELECT count(*) FROM rag.eval_result;
SELECT count(*) FROM rag_eval('docs', 'help', k => '{1}', configurations => '{"l": {"retrieve": {"mode": "lexical"}}}') WHERE metric = 'recall';
UPDATE docs SET body = 'Nothing.' WHERE id = 4;
SELECT count(*) FROM rag_eval('docs', 'help', k => '{1}', configurations => '{"l": {"retrieve": {"mode": "lexical"}}}') WHERE metric = 'recall';
SELECT configuration, pipeline, metric, k, round(value::numeric, 4), round(previous_value::numeric, 4), round(change::numeric, 4) FROM rag.eval_summary WHERE metric IN ('recall', 'mrr') ORDER BY run, metric;
SELECT label, metric, k, previous_value, value, change FROM rag.eval_score WHERE run = (SELECT max(id) FROM rag.eval_run) AND change <> 0 AND metric NOT LIKE 'latency%' ORDER BY metric;
SELECT label, found FROM rag.eval_result JOIN rag.eval_case ON id = case_id WHERE run = (SELECT max(id) FROM rag.eval_run) AND label = 'parking';
BEGIN READ ONLY;
SELECT count(*) FROM rag_eval('docs', 'help', k => '{1}', options => '{"keep": false}') WHERE metric = 'recall';
SELECT fails($$SELECT * FROM rag_eval('docs', 'help')$$);
ROLLBACK;

-- Floors: what falls below one is said, and shown until a later run is better or the floor is another.
SELECT fails($$SELECT rag_eval_floors('help', '{"ndgc@10": 0.7}')$$);
SELECT fails($$SELECT rag_eval_floors('help', '{"ndcg@0": 0.7}')$$);
SELECT fails($$SELECT rag_eval_floors('help', '{"faithfulness@3": 0.7}')$$);
SELECT fails($$SELECT rag_eval_floors('help', '{"latency_p95": 0.7}')$$);
SELECT fails($$SELECT rag_eval_floors('help', '{"ndcg": 70}')$$);
SELECT fails($$SELECT rag_eval_floors('help', '{"ndcg": "0.7"}')$$);
SELECT fails($$SELECT rag_eval_floors('help', '[]')$$);
SELECT fails($$SELECT rag_eval_floors('help', NULL)$$);
SELECT fails($$SELECT rag_eval_floors(NULL, '{}')$$);
SELECT fails($$SELECT rag_eval_floors('nothing', '{}')$$);
SELECT fails($$SELECT rag_eval_floors('help', '{}', channel => '')$$);
SELECT fails($$SELECT rag_eval_floors('help', '{}', channel => repeat('x', 64))$$);
SELECT rag_eval_floors('help', '{"recall@1": 0.99, "mrr": 0.1, "all_found": 1, "ndcg@3": 0.5, "faithfulness": 0.5}', channel => NULL);
SELECT metric, k, floor, value, is_broken, run, channel FROM rag.eval_floor_status ORDER BY metric;
SELECT count(*) FROM rag_eval('docs', 'help', k => '{1}', configurations => '{"l": {"retrieve": {"mode": "lexical"}}}') WHERE metric = 'recall';
SELECT metric, k, floor, value, is_broken, n, configuration, pipeline, run = (SELECT max(id) FROM rag.eval_run), measured_at <= clock_timestamp() FROM rag.eval_floor_status ORDER BY metric;
-- The first configuration counts, which others may be worse than.
SELECT rag_eval_floors('help', '{"recall@1": 0.5}');
SELECT count(*) FROM rag_eval('docs', 'help', k => '{1}', configurations => '{"l": {"retrieve": {"mode": "lexical"}}, "german": {"retrieve": {"mode": "lexical", "filter": {"lang": "de"}}}}') WHERE metric = 'recall';
SELECT metric, value, is_broken, configuration, channel FROM rag.eval_floor_status;
SELECT count(*) FROM rag_eval('docs', 'help', k => '{1}', configurations => '{"german": {"retrieve": {"mode": "lexical", "filter": {"lang": "de"}}}}', options => '{"keep": false}') WHERE metric = 'recall';
SELECT count(*) FROM rag_eval('docs', 'help', k => '{1}', configurations => '{"german": {"retrieve": {"mode": "lexical", "filter": {"lang": "de"}}}}') WHERE metric = 'recall';
SELECT metric, value, is_broken, configuration FROM rag.eval_floor_status;
-- A run that is forgotten breaks nothing, and floors go with their set.
BEGIN;
DELETE FROM rag.eval_run WHERE id = (SELECT max(id) FROM rag.eval_run);
SELECT metric, value, is_broken, configuration FROM rag.eval_floor_status;
UPDATE rag.eval_set SET name = 'assistance' WHERE name = 'help';
SELECT eval_set, value FROM rag.eval_floor_status;
SELECT rag_eval_delete('assistance');
SELECT count(*) FROM rag.eval_floor;
ROLLBACK;
BEGIN READ ONLY;
SELECT fails($$SELECT rag_eval_floors('help', '{}')$$);
ROLLBACK;

-- A role sees its own sets and runs, and drives only what it may read.
GRANT SELECT ON docs, docs_rag, docs_rag_chunks TO regress_reader;
GRANT EXECUTE ON FUNCTION fails TO PUBLIC;
SET ROLE regress_reader;
SELECT count(*) FROM rag.eval_set;
SELECT count(*) FROM rag.eval_case;
SELECT count(*) FROM rag.eval_result;
SELECT count(*) FROM rag.eval_summary;
SELECT count(*) FROM rag.eval_floor;
SELECT count(*) FROM rag.eval_floor_status;
SELECT fails($$SELECT rag_eval_floors('help', '{}')$$);
SELECT fails($$INSERT INTO rag.eval_floor VALUES ('help', 'mrr', 1, 1)$$);
SELECT fails($$SELECT * FROM rag_eval('docs', 'help')$$);
SELECT fails($$SELECT rag_eval_load('help', '[{"question": "Why?", "relevant": ["1"]}]')$$);
SELECT fails($$INSERT INTO rag.eval_case (eval_set, question) VALUES ('help', 'Why?')$$);
SELECT fails($$INSERT INTO rag.eval_set (name, owner) VALUES ('forged', 'postgres')$$);
SELECT fails($$SELECT rag_eval_load('x', '/etc/passwd')$$);
SELECT rag_eval_load('own', '[{"question": "Where do visitors park their cars?", "relevant": ["4"]}, {"question": "When are invoices sent?", "relevant": ["2"]}]');
SELECT value FROM rag_eval('docs', 'own', k => '{1}', configurations => '{"lexical": {"retrieve": {"mode": "lexical"}}}') WHERE metric = 'recall';
SELECT eval_set, owner, cases FROM rag.eval_run;
SELECT fails('UPDATE rag.eval_run SET cases = 1');
SELECT fails('DELETE FROM rag.eval_run');
SELECT fails($$SELECT rag_eval_delete('help')$$);
SELECT rag_eval_delete('help', if_exists => true);
SELECT fails($$SELECT rag_eval_delete(NULL)$$);
SELECT fails($$SELECT rag_eval_give('own', 'postgres')$$);
SELECT fails($$SELECT rag_eval_give('own', 'nobody there')$$);
SELECT rag_eval_load('brief', '[{"id": "a", "question": "Why?", "relevant": ["1"]}, {"id": "b", "question": "How?", "relevant": ["1"]}]');
SELECT rag_eval_delete('brief', 'a'), rag_eval_delete('brief', 'a'), rag_eval_delete('brief');
SELECT fails($$SELECT rag_eval_purge('-1 day')$$);
SELECT rag_eval_purge('1 day'), rag_eval_purge('0', 'help'), rag_eval_purge('0', 'own'), rag_eval_purge('0');
SELECT fails('UPDATE rag.eval_metric SET value = 1');
SELECT fails('INSERT INTO rag.eval_metric SELECT * FROM rag.eval_metric');
SET ROLE regress_stranger;
SELECT fails($$SELECT * FROM rag_eval('docs', 'own')$$);
SELECT rag_eval_load('strange', '[{"question": "Why?", "relevant": ["1"]}]');
SELECT fails($$SELECT * FROM rag_eval('docs')$$);
RESET ROLE;
SELECT name, owner FROM rag.eval_set ORDER BY name;

-- Keys are the same under other settings, have all digits, and composite ones may stand there as they are shown.
CREATE TABLE event (at timestamptz PRIMARY KEY, body text);
CREATE TABLE entry (at timestamptz, no numeric, body text, PRIMARY KEY (at, no));
INSERT INTO event VALUES ('2026-01-01 00:00+00', 'The band plays at night.'), ('2026-02-01 00:00+00', 'Tea is served.');
INSERT INTO entry SELECT at, 12345678901234567890123 + extract(month FROM at AT TIME ZONE 'UTC'), body FROM event;
SELECT rag_create_pipeline('event', 'body', refresh => 'sync'), rag_create_pipeline('entry', 'body', refresh => 'sync');
SET timezone = 'UTC';
SELECT rag_eval_load('event', jsonb_build_array(jsonb_build_object('question', 'Who plays at night?', 'relevant', jsonb_build_array(source_key)))) FROM rag_retrieve('band', 'event', filter => '{"at": "2026-01-01 00:00+00"}');
SELECT rag_eval_load('entry', jsonb_build_array(jsonb_build_object('question', 'Who plays at night?', 'relevant', jsonb_build_array(source_key::jsonb)))) FROM rag_retrieve('band', 'entry', filter => '{"at": "2026-01-01 00:00+00"}');
SELECT eval_set, relevant FROM rag.eval_case WHERE eval_set IN ('event', 'entry') ORDER BY eval_set;
SET timezone = 'Asia/Tokyo';
SET datestyle = 'German';
SELECT (SELECT value FROM rag_eval('event', 'event', k => '{1}') WHERE metric = 'recall'), (SELECT value FROM rag_eval('entry', 'entry', k => '{1}') WHERE metric = 'recall');
RESET timezone;
RESET datestyle;
SELECT configuration, value FROM rag_eval('entry', 'entry', k => '{1}', configurations => '{"one": {"retrieve": {"filter": {"no": 12345678901234567890124}}}, "other": {"retrieve": {"filter": {"no": 12345678901234567890125}}}}') WHERE metric = 'recall';
SELECT fails($$SELECT rag_eval_load('entry', '[{"question": "Who?", "relevant": [{"grade": 1.50, "no": 1}]}]')$$);
