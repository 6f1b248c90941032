-- rag_redact, rag_redactions and the server option redact.
\set SHOW_CONTEXT never
\pset format unaligned
\pset tuples_only on
SET client_min_messages = warning;

-- What is replaced; a value has one placeholder, and what looks like one is a value.
SELECT rag_redact('Mail anna@example.com or bob@example.org; anna@example.com is faster.');
SELECT rag_redact('Herr Müller, Tel. 030 1234567, IBAN DE89 3704 0044 0532 0130 00. Müllers Karte: 4111-1111-1111-1111');
SELECT rag_redact('[EMAIL_1] is not anna@example.com, see [1].');
SELECT rag_redact('postgres://app:s3cret@10.1.2.3/x, SSN 123-45-6789, account 12345678');
SELECT rag_redact('姓名：王小明，电话：13812345678。王小明');
SELECT rag_redact('Version 17.4 of 2024-01-15 costs 1,234,567.89 and listens on 127.0.0.1:5432.');
SELECT rag_redact(''), rag_redact(NULL) IS NULL;

-- Where, in characters.
SELECT placeholder, kind, start_char, end_char, substr(input, start_char + 1, end_char - start_char)
FROM (VALUES ('Größe: 王先生, anna@example.com und [IP_7]')) AS t (input), rag_redactions(input);
SELECT count(*) FROM rag_redactions(NULL);
SELECT count(*) FROM rag_redactions(NULL, 'nope');
SELECT count(*) FROM rag_redactions('nobody');

-- Putting back is exact, so the length says what was left.
SELECT length(rag_redact(repeat('anna@example.com ', 100000))) = 100000 * length('[EMAIL_1] ');
SELECT count(DISTINCT placeholder), count(*) FROM rag_redactions(repeat('a@b.de c@d.de ', 1000));

-- The option of a server.
SELECT fails($$CREATE SERVER bad FOREIGN DATA WRAPPER rag_llm OPTIONS (redact 'names')$$);
SELECT fails($$CREATE SERVER bad FOREIGN DATA WRAPPER rag_llm OPTIONS (redact '')$$);
SELECT fails($$CREATE SERVER bad FOREIGN DATA WRAPPER rag_llm OPTIONS (redcat 'pii')$$);
CREATE SERVER good FOREIGN DATA WRAPPER rag_llm OPTIONS (api 'openai', base_url 'http://127.0.0.1:9/v1', model 'm', redact 'pii', max_retries '0');
SELECT fails($$ALTER SERVER good OPTIONS (SET redact 'PII')$$);
SELECT line ~ '^38000: provider "good" cannot be reached' FROM fails($$SELECT rag_generate('Who is anna@example.com?', 'good')$$) AS line WHERE line !~ '^(HINT|DETAIL)';

-- A model that finds more, which must be a token classifier.
SELECT fails($$CREATE SERVER bad FOREIGN DATA WRAPPER rag_llm OPTIONS (redact_model 'names')$$);
ALTER SERVER good OPTIONS (ADD redact_model 'names');
SELECT fails($$SELECT rag_generate('Who is anna lind?', 'good')$$);
ALTER SERVER good OPTIONS (SET redact_model 'all-minilm-l6-v2');
SELECT fails($$SELECT rag_generate('Who is anna lind?', 'good')$$);
SELECT fails($$ALTER SERVER good OPTIONS (DROP redact)$$);
SELECT fails($$SELECT rag_redact('anna lind', 'names')$$);
SELECT fails($$SELECT * FROM rag_redactions('anna lind', 'all-minilm-l6-v2')$$);
SELECT rag_redact(NULL, 'names') IS NULL, rag_redact('a@b.de', NULL);
ALTER SERVER good OPTIONS (DROP redact_model, DROP redact);
DROP SERVER good;
