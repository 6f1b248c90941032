-- Relations that texts state: how many calls a language model takes to read them is said before it makes any.
CREATE TABLE memo (id integer PRIMARY KEY, body text);
INSERT INTO memo VALUES (1, 'Ada Berg joined Apollo in May.'), (2, 'Ben Cole founded Gemini.'), (3, 'Ada Berg joined Apollo in May.'), (4, NULL);
CREATE SERVER text_reader FOREIGN DATA WRAPPER rag_llm OPTIONS (api 'openai', base_url 'http://127.0.0.1:9/extract/v1', model 'm', max_retries '0');
CREATE SERVER other_reader FOREIGN DATA WRAPPER rag_llm OPTIONS (api 'openai', base_url 'http://127.0.0.1:9/extract/v1', model 'n', max_retries '0');
-- A new pipeline has no texts that could be counted.
BEGIN;
SET LOCAL client_min_messages = notice;
SELECT rag_create_pipeline('memo', 'body', refresh => 'manual', options => '{"graph": {"entities": "rules", "extract": {"llm": "text_reader"}}}');
ROLLBACK;
SELECT rag_create_pipeline('memo', 'body', refresh => 'manual', options => '{"graph": {"entities": "rules"}}');
CALL rag_run('memo');
SET client_min_messages = notice;
-- Two rows have one text. A transaction that is rolled back is a dry run.
BEGIN;
SELECT rag_alter_pipeline('memo', options => '{"graph": {"entities": "rules", "extract": {"llm": "text_reader"}}}');
ROLLBACK;
SELECT count(*) FROM rag.derivation WHERE kind = 'extracted_relations';
SELECT rag_alter_pipeline('memo', options => '{"graph": {"entities": "rules", "extract": {"llm": "text_reader"}}}');
-- What holds already is not said again.
SELECT rag_alter_pipeline('memo', options => '{"graph": {"entities": "rules", "extract": {"llm": "text_reader"}}}');
SELECT rag_alter_pipeline('memo', options => '{"graph": {"entities": "rules"}}');
-- What has been read is not read again, unless something else is asked.
INSERT INTO memo_rag_chunks_extracted (content_hash, no, template, unreadable)
SELECT content_hash, 0, 'extract@0', false FROM memo_rag_chunks WHERE source_id = 1;
SELECT rag_alter_pipeline('memo', options => '{"graph": {"entities": "rules", "extract": {"llm": "other_reader", "predicates": ["joined"]}}}');
SELECT rag_alter_pipeline('memo', options => '{"graph": {"entities": "rules", "extract": {"llm": "other_reader"}}}');
INSERT INTO memo_rag_chunks_extracted (content_hash, no, template, unreadable)
SELECT content_hash, 0, 'extract@0', false FROM memo_rag_chunks WHERE source_id = 2;
SELECT rag_alter_pipeline('memo', options => '{"graph": {"entities": "rules", "extract": {"llm": "text_reader"}}}');
RESET client_min_messages;
SELECT rag_drop_pipeline('memo');
DROP TABLE memo;
DROP SERVER text_reader, other_reader;
