-- rag.price, rag.budget, rag.stat_usage, rag.stat_budget; no provider is reached here.
\set SHOW_CONTEXT never
\pset format unaligned
\pset tuples_only on
\pset null NULL
SET client_min_messages = warning;
CREATE SERVER nobody FOREIGN DATA WRAPPER rag_llm OPTIONS (base_url 'http://127.0.0.1:9/usage/v1', model 'm', max_retries '0');
GRANT USAGE ON FOREIGN SERVER nobody TO regress_reader, regress_writer;

-- What can be a price.
INSERT INTO rag.price VALUES ('nobody', 'm', 2.5, 10), ('nobody', NULL, 1, 0), ('other', NULL, 0, 0);
SELECT * FROM rag.price ORDER BY server, model;
SELECT fails($$INSERT INTO rag.price VALUES ('nobody', NULL, 2)$$);
SELECT fails($$INSERT INTO rag.price VALUES ('x', 'y', -1)$$);
SELECT fails($$INSERT INTO rag.price VALUES ('x', 'y', 'NaN')$$);
SELECT fails($$INSERT INTO rag.price VALUES ('x', 'y', 'Infinity')$$);
SELECT fails($$INSERT INTO rag.price VALUES ('', 'y', 1)$$);
SELECT fails($$INSERT INTO rag.price VALUES ('x', 'y', 1, 1, -1)$$);
SELECT fails($$INSERT INTO rag.price VALUES ('x', 'y', 1, 1, 'NaN')$$);

-- What can be a budget.
SELECT fails($$INSERT INTO rag.budget VALUES ('regress_reader', 'year', 1)$$);
SELECT fails($$INSERT INTO rag.budget VALUES ('regress_reader', 'day')$$);
SELECT fails($$INSERT INTO rag.budget VALUES ('regress_reader', 'day', -1)$$);
SELECT fails($$INSERT INTO rag.budget VALUES ('regress_reader', 'day', NULL, 'NaN')$$);
INSERT INTO rag.budget VALUES ('regress_reader', 'day', 10, NULL), ('regress_reader', 'month', NULL, 0.5), (NULL, 'day', 1000, 100);
SELECT fails($$INSERT INTO rag.budget VALUES ('regress_reader', 'day', 20)$$);
SELECT fails($$INSERT INTO rag.budget VALUES (NULL, 'day', 20)$$);
SELECT role, period, max_tokens, used_tokens, max_cost, used_cost FROM rag.stat_budget WHERE role = 'regress_reader';

-- A call that is too large for it is not made; the error comes from here and not from the network.
SET ROLE regress_reader;
SELECT regexp_replace(line, '\d{4}-\d\d-\d\d', 'DATE') FROM fails($$SELECT rag_generate('This question has more than ten tokens of four characters each.', 'nobody')$$) AS line;
SELECT substr(line, 1, 5) FROM fails($$SELECT rag_generate('Short.', 'nobody')$$) AS line LIMIT 1;
-- A provider that was not reached costs nothing.
SELECT role, period, max_tokens, used_tokens, max_cost, used_cost FROM rag.stat_budget ORDER BY 1, 2;
SELECT role, server, model, calls, tokens_in, tokens_cached, cost, unpriced_calls, failed_calls FROM rag.stat_usage;
-- Own budgets are seen, and nobody changes any.
SELECT role, period FROM rag.budget ORDER BY role, period;
SELECT fails($$UPDATE rag.budget SET max_tokens = 1000000$$);
SELECT fails($$DELETE FROM rag.budget$$);
SELECT fails($$INSERT INTO rag.budget VALUES ('regress_reader', 'day', 20)$$);
SELECT fails($$UPDATE rag.price SET input = 0$$);
RESET ROLE;

-- Those without one of their own have the one that is for all.
SET ROLE regress_writer;
SELECT role, period, max_tokens FROM rag.stat_budget;
SELECT substr(line, 1, 5) FROM fails($$SELECT rag_generate(repeat('word ', 1000), 'nobody')$$) AS line LIMIT 1;
RESET ROLE;
-- It can be left to others to keep them.
GRANT INSERT, UPDATE, DELETE ON rag.budget TO regress_owner;
SET ROLE regress_owner;
UPDATE rag.budget SET max_tokens = 0 WHERE role IS NULL;
INSERT INTO rag.budget VALUES ('regress_writer', 'day', 5000);
SELECT role, period, max_tokens, max_cost FROM rag.budget ORDER BY role, period;
RESET ROLE;
SET ROLE regress_writer;
SELECT substr(line, 1, 5) FROM fails($$SELECT rag_generate(repeat('word ', 1000), 'nobody')$$) AS line LIMIT 1;
RESET ROLE;
REVOKE ALL ON rag.budget FROM regress_owner;

-- The built-in answerer and models of the server cost nothing and need no budget.
CREATE TABLE docs (id integer PRIMARY KEY, body text);
INSERT INTO docs VALUES (1, 'Invoices are sent on the first day of each month.');
SELECT rag_create_pipeline('docs', 'body', refresh => 'sync');
GRANT SELECT ON docs, docs_rag, docs_rag_chunks TO regress_stranger;
SET ROLE regress_stranger;
SELECT rag_answer('When are invoices sent?');
RESET ROLE;
SELECT pg_typeof(day), pg_typeof(role), pg_typeof(cost) FROM (SELECT) AS one LEFT JOIN rag.stat_usage ON true LIMIT 1;
DROP OWNED BY regress_reader, regress_writer, regress_stranger;
