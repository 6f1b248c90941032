-- rag_answer_stream with the built-in answerer, which is told sentence by sentence.
\set SHOW_CONTEXT never
\pset format unaligned
\pset tuples_only on
SET client_min_messages = warning;

CREATE TABLE docs (id integer PRIMARY KEY, title text, body text, lang text);
INSERT INTO docs VALUES
    (1, 'Passwords', 'Accounts are made by the office. To reset a password, open the settings page and choose Reset password. The link in the mail is valid for two hours.', 'en'),
    (2, 'Invoices', 'Invoices are sent on the first day of each month. They can be paid by card or by bank transfer.', 'en'),
    (3, 'Backups', 'Backups are made every night at two. They are kept for thirty days.', 'en');
SELECT rag_create_pipeline('docs', 'body', metadata => ARRAY['lang']);

-- The pieces are the answer; the last row is what stands behind it.
CREATE TEMPORARY TABLE told AS
SELECT row_number() OVER () AS n, piece FROM (SELECT rag_answer_stream('How do I reset a password?') AS piece) AS t;
SELECT count(*) >= 2 FROM told;
SELECT string_agg(piece, '' ORDER BY n) = rag_answer('How do I reset a password?') FROM told WHERE n < (SELECT max(n) FROM told);
SELECT jsonb_object_keys(piece::jsonb) FROM told ORDER BY n DESC LIMIT 7;
SELECT piece::jsonb->'citations' = citations, (piece::jsonb->>'supported')::boolean = supported, (piece::jsonb->>'confidence')::real = confidence, piece::jsonb->'context' = context, piece::jsonb->'usage'->>'llm'
FROM rag_answer_details('How do I reset a password?'), (SELECT piece FROM told ORDER BY n DESC LIMIT 1) AS last;

-- Each row is a sentence with its citation.
SELECT '<' || piece || '>' FROM (SELECT rag_answer_stream('How long are backups kept and when are they made?', options => '{"answer": {"min_confidence": 0}}') AS piece) AS t WHERE piece !~ '^\{';

-- What the documents do not say.
SELECT CASE WHEN piece ~ '^\{' THEN piece::jsonb->>'supported' ELSE piece END FROM (SELECT rag_answer_stream('Who won the football world cup in 1998?') AS piece) AS t;

-- An answer that would look like a step of an agent comes in two rows.
SELECT CASE WHEN piece ~ '"supported"' THEN piece::jsonb->>'supported' ELSE piece END FROM (SELECT rag_answer_stream('Who won the football world cup in 1998?', options => '{"answer": {"refusal": "{\"step\": {\"do\": \"none\"}}"}}') AS piece) AS t;

-- Nothing found, and in FROM, where all rows are collected first.
SELECT count(*), bool_or(piece ~ '"supported": ?false') FROM rag_answer_stream('When are invoices sent?', filter => '{"lang": "de"}') AS piece;
SELECT piece::jsonb->'citations'->0->>'source_key' FROM rag_answer_stream('When are invoices sent?', 'docs', k => 1, mode => 'lexical') WITH ORDINALITY AS t (piece, n) WHERE piece ~ '^\{';

-- As many rows as are wanted, also of several questions at once.
SELECT count(*) FROM (SELECT rag_answer_stream('When are invoices sent?') LIMIT 1) AS t;
SELECT q, count(*) >= 2 FROM (VALUES ('When are invoices sent?'), ('How long are backups kept?')) AS v (q), LATERAL (SELECT rag_answer_stream(q)) AS t GROUP BY q ORDER BY q;
BEGIN;
DECLARE c CURSOR FOR SELECT rag_answer_stream('When are invoices sent?');
FETCH 1 FROM c;
CLOSE c;
ROLLBACK;

-- What cannot be asked.
SELECT fails($$SELECT rag_answer_stream(NULL)$$);
SELECT fails($$SELECT rag_answer_stream('')$$);
SELECT fails($$SELECT rag_answer_stream('x', 'nowhere')$$);
SELECT fails($$SELECT rag_answer_stream('x', strategy => 'guess')$$);
SELECT fails($$SELECT rag_answer_stream('x', llm => 'nowhere')$$);
SELECT fails($$SELECT rag_answer_stream('x', options => '{"answer": {"temprature": 0}}')$$);

-- Nobody listens there: an error before the first row.
CREATE SERVER silent FOREIGN DATA WRAPPER rag_llm OPTIONS (base_url 'http://127.0.0.1:9/answer_stream/v1', model 'm', max_retries '0');
SELECT line ~ 'silent' FROM fails($$SELECT rag_answer_stream('x', llm => 'silent')$$) AS line WHERE line !~ '^(HINT|DETAIL)';

-- Row-level security holds here too.
ALTER TABLE docs ENABLE ROW LEVEL SECURITY;
CREATE POLICY invoices ON docs USING (id = 2);
GRANT SELECT ON docs, docs_rag, docs_rag_chunks TO regress_reader;
SET ROLE regress_reader;
SELECT bool_or(piece ~ 'settings page') FROM (SELECT rag_answer_stream('How do I reset a password?') AS piece) AS t;
RESET ROLE;
