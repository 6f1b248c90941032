-- rag_sql where nobody has to be asked, and the pairs of rag_sql_example. What models write is the subject of tests/system.
\set SHOW_CONTEXT never
\pset format unaligned
\pset tuples_only on
SET client_min_messages = warning;

CREATE TABLE goods (id integer PRIMARY KEY, name text, price numeric);
CREATE TABLE secrets (id integer PRIMARY KEY, word text);
INSERT INTO goods VALUES (1, 'pen', 1.20), (2, 'ink', 3.40);
CREATE SERVER writer FOREIGN DATA WRAPPER rag_llm OPTIONS (api 'openai', base_url 'http://127.0.0.1:9/text_to_sql/v1', model 'm', max_retries '0');
CREATE USER MAPPING FOR PUBLIC SERVER writer;
GRANT USAGE ON FOREIGN SERVER writer TO PUBLIC;
GRANT EXECUTE ON FUNCTION rag_sql, rag_sql_example, rag_sql_example_delete TO regress_reader;
GRANT SELECT ON goods TO regress_reader;

-- A question needs a language model, and words.
SELECT fails($$SELECT * FROM rag_sql(NULL, llm => 'writer')$$);
SELECT fails($$SELECT * FROM rag_sql('How many goods are there?')$$);
SELECT fails($$SELECT * FROM rag_sql('', llm => 'writer')$$);
SELECT fails($$SELECT * FROM rag_sql('How many?', llm => 'nobody')$$);
SELECT substr(said, 1, 5) FROM fails($$SELECT * FROM rag_sql('How many?', llm => 'writer')$$) AS said LIMIT 1;

-- Options.
SELECT fails($$SELECT * FROM rag_sql('How many?', llm => 'writer', options => '{"attempt": 1}')$$);
SELECT fails($$SELECT * FROM rag_sql('How many?', llm => 'writer', options => '{"attempts": 0}')$$);
SELECT fails($$SELECT * FROM rag_sql('How many?', llm => 'writer', options => '{"schema_tokens": 1}')$$);
SELECT fails($$SELECT * FROM rag_sql('How many?', llm => 'writer', options => '{"timeout": -1}')$$);
SELECT fails($$SELECT * FROM rag_sql('How many?', llm => 'writer', options => '{"budget": {"calls": 0}}')$$);
SELECT fails($$SELECT * FROM rag_sql('How many?', llm => 'writer', options => '{"guard": {"table": []}}')$$);
SELECT fails($$SELECT * FROM rag_sql('How many?', llm => 'writer', options => '{"guard": {"max_bytes": 0}}')$$);
SELECT fails($$SELECT * FROM rag_sql('How many?', llm => 'writer', options => '{"template": "nosuch"}')$$);
SELECT fails($$SELECT * FROM rag_sql('How many?', llm => 'writer', options => '{"template": "standard"}')$$);
SELECT fails($$SELECT * FROM rag_sql('How many?', llm => 'writer', options => '[]')$$);

-- What may be read.
SELECT fails($$SELECT * FROM rag_sql('How many?', '{}', 'writer')$$);
SELECT fails($$SELECT * FROM rag_sql('How many?', '{NULL}', 'writer')$$);
SELECT fails($$SELECT * FROM rag_sql('How many?', '{goods}', 'writer', '{"guard": {"tables": ["goods"]}}')$$);
SELECT fails($$SELECT * FROM rag_sql('How many?', llm => 'writer', options => '{"guard": {"tables": ["nosuch"]}}')$$);
SET ROLE regress_reader;
SELECT fails($$SELECT * FROM rag_sql('How many?', '{secrets}', 'writer')$$);
SELECT fails($$SELECT * FROM rag_sql('How many?', llm => 'writer', options => '{"guard": {"tables": ["secrets"]}}')$$);
RESET ROLE;

-- Pairs.
SELECT rag_sql_example('What does a pen cost?', 'SELECT price FROM goods WHERE name = ''pen''', 'in euros');
SELECT rag_sql_example('What is secret?', 'SELECT word FROM secrets');
SELECT id, owner, question, sql, note FROM rag.sql_example ORDER BY id;
SELECT rag_sql_example('What does a pen cost?', 'SELECT g.price FROM goods AS g WHERE g.name = ''pen''');
SELECT id, question, sql, note FROM rag.sql_example ORDER BY id;
SELECT fails($$SELECT rag_sql_example(NULL, 'SELECT 1')$$);
SELECT fails($$SELECT rag_sql_example('What?', NULL)$$);
SELECT fails($$SELECT rag_sql_example(' ', 'SELECT 1')$$);
SELECT fails($$SELECT rag_sql_example('What?', 'DELETE FROM goods')$$);
SELECT fails($$SELECT rag_sql_example('What?', 'SELECT prise FROM goods')$$);
SELECT fails($$SELECT rag_sql_example('What?', 'SELECT 1', options => '{"table": ["goods"]}')$$);
SELECT fails($$SELECT rag_sql_example('What?', 'TABLE goods', options => '{"tables": ["secrets"]}')$$);
SELECT fails($$SELECT rag_sql_example(repeat('x', 20000), 'TABLE goods')$$);
SELECT fails($$SELECT rag_sql_example('What?', 'TABLE goods', repeat('x', 20000))$$);

-- Each role has its own, and none writes the table.
SET ROLE regress_reader;
SELECT count(*) FROM rag.sql_example;
SELECT rag_sql_example('What does ink cost?', 'SELECT price FROM goods WHERE name = ''ink''') > 0;
SELECT owner, question FROM rag.sql_example;
SELECT fails($$SELECT rag_sql_example('What is secret?', 'SELECT word FROM secrets')$$);
SELECT fails($$INSERT INTO rag.sql_example (owner, question, sql) VALUES ('regress_reader', 'What?', 'SELECT 1')$$);
SELECT fails($$LOCK TABLE rag.sql_example$$);
SELECT rag_sql_example_delete(2);
RESET ROLE;
SET ROLE regress_stranger;
SELECT fails($$SELECT * FROM rag_sql('How many?')$$);
SELECT fails($$SELECT rag_sql_example('What?', 'SELECT 1')$$);
SELECT fails($$SELECT rag_sql_example_delete(2)$$);
RESET ROLE;
SELECT rag_sql_example_delete(NULL);
SELECT rag_sql_example_delete(2);
SELECT rag_sql_example_delete(2);

-- A transaction that only reads keeps none, and a rollback takes one back.
BEGIN READ ONLY;
SELECT rag_sql_example('What?', 'SELECT 1');
ROLLBACK;
BEGIN;
SELECT rag_sql_example('What?', 'SELECT 1') > 0;
ROLLBACK;
SELECT count(*) FROM rag.sql_example WHERE question = 'What?';

-- Documents that were found are a relation beside the tables, also of a key of two columns whose names are taken.
CREATE TABLE notes (place integer, content text, body text, good integer REFERENCES goods, PRIMARY KEY (place, content));
INSERT INTO notes VALUES (1, 'it''s', 'The pen leaks, people complain.', 1), (2, 'b', 'The ink is blue.', 2);
SELECT rag_create_pipeline('notes', 'body', refresh => 'sync');
CREATE FUNCTION offered(question text, options jsonb, strategy text DEFAULT NULL) RETURNS SETOF text LANGUAGE sql AS $$
    SELECT found[1]
    FROM rag_prompt($1, 'notes', strategy => $3, k => 1, llm => 'writer', options => $2) AS p,
        regexp_matches(p.content, 'create table found_[^;]*', 'g') AS found
    WHERE role = 'user'
$$;
SELECT offered('What do people complain about, and how much does it cost?', '{}', 'combined');
SELECT offered('How much are the goods that people complain about?', '{"answer": {"sql": {"guard": {"tables": ["goods", "notes"]}}}}');
-- A table that no query may read has none, and one that no option names gets no query.
SELECT count(*) FROM offered('How much are the goods that people complain about?', '{"answer": {"sql": {"guard": {"tables": ["goods"]}}}}');
SELECT role, content ~ 'create table' FROM rag_prompt('How much are the goods that people complain about?', 'notes', llm => 'writer') WHERE role = 'user';
-- Without the right to have queries written, a choice of one is an error, and anything else is not.
REVOKE EXECUTE ON FUNCTION rag_sql FROM regress_reader;
GRANT SELECT ON notes, notes_rag, notes_rag_chunks TO regress_reader;
SET ROLE regress_reader;
SELECT fails($$SELECT * FROM rag_prompt('How many goods are there?', 'notes', llm => 'writer', options => '{"answer": {"sql": {"guard": {"tables": ["goods"]}}}}')$$);
SELECT fails($$SELECT * FROM rag_prompt('How many goods are there?', 'notes', strategy => 'combined', llm => 'writer')$$);
SELECT role FROM rag_prompt('What leaks?', 'notes', llm => 'writer', options => '{"answer": {"sql": {"guard": {"tables": ["goods"]}}}}');
RESET ROLE;
