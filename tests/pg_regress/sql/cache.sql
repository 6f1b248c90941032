-- What is remembered: rag.cache, and vectors of questions for all sessions. No provider is reached here.
\set SHOW_CONTEXT never
\pset format unaligned
\pset tuples_only on
SET client_min_messages = warning;

CREATE TABLE docs (id integer PRIMARY KEY, body text);
INSERT INTO docs VALUES (1, 'Invoices are sent on the first day of each month.');
SELECT rag_create_pipeline('docs', 'body', refresh => 'sync');

-- What can be said.
SHOW rag.cache;
SHOW rag.cache_ttl;
SET rag.cache = 'all';
-- PostgreSQL 16 and 18 say the range differently.
SELECT count(*) FROM fails('SET rag.cache_ttl = 0') AS line WHERE line ~ '^22023';
SELECT fails($$SELECT rag_answer('x', options => '{"answer": {"cache": "all"}}')$$);
SELECT fails($$SELECT rag_answer('x', options => '{"answer": {"cache_similarity": 2}}')$$);
SELECT fails($$SELECT rag_answer('x', options => '{"answer": {"cache": 1}}')$$);
-- The built-in answerer works out each answer anew, and says the same.
SELECT DISTINCT rag_answer('When are invoices sent?', options => jsonb_build_object('answer', jsonb_build_object('cache', c))) FROM unnest(ARRAY['off', 'exact', 'semantic']) AS c;
-- An error is not remembered: nobody listens there.
CREATE SERVER nobody FOREIGN DATA WRAPPER rag_llm OPTIONS (base_url 'http://127.0.0.1:9/cache/v1', model 'm', max_retries '0');
SET rag.cache = 'semantic';
SELECT substr(line, 1, 5) FROM generate_series(1, 2) AS n, fails($$SELECT rag_answer('When are invoices sent?', llm => 'nobody')$$) AS line WHERE line ~ '^[0-9A-Z]{5}:';
RESET rag.cache;

-- A vector that one session has asked for is there for the next, which gets the same.
SELECT 'How much is ' || gen_random_uuid() || '?' AS question \gset
SELECT rag_embed(:'question') AS first \gset
SELECT cache_hits AS hits FROM rag.daemon_status() \gset
\c
SET client_min_messages = warning;
SELECT rag_embed(:'question')::text = :'first';
SELECT cache_hits > :hits, remembered > 0 FROM rag.daemon_status();
-- Another kind of text has another vector, and arrays are bulk loads, which are not remembered.
SELECT rag_embed(:'question', kind => 'passage') IS NOT NULL;
SELECT cache_hits AS hits FROM rag.daemon_status() \gset
SELECT cardinality(rag_embed_batch(ARRAY[:'question'], kind => 'query'));
SELECT cache_hits = :hits FROM rag.daemon_status();
