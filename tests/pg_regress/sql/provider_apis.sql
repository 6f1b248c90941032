-- Servers of all protocols, models of theirs that rerank, and answers in the form of a schema.
-- Nobody is called but where nobody listens.
\set SHOW_CONTEXT never
\pset format unaligned
\pset tuples_only on
SET client_min_messages = warning;

-- Most protocols have a usual address. The one of OpenAI is spoken by many, so it has none.
CREATE SERVER claude FOREIGN DATA WRAPPER rag_llm OPTIONS (api 'anthropic', model 'm');
CREATE SERVER home FOREIGN DATA WRAPPER rag_llm OPTIONS (api 'ollama', model 'm', num_ctx '8192', base_url 'http://127.0.0.1:9/api', max_retries '0');
CREATE SERVER vectors FOREIGN DATA WRAPPER rag_llm OPTIONS (api 'voyage', base_url 'http://127.0.0.1:9/provider_apis/v1', max_retries '0');
CREATE SERVER azure FOREIGN DATA WRAPPER rag_llm OPTIONS (api 'openai', model 'm', key_header 'api-key', base_url 'http://127.0.0.1:9/provider_apis/v1', max_retries '0');
CREATE SERVER nowhere FOREIGN DATA WRAPPER rag_llm OPTIONS (api 'openai', model 'm');
SELECT fails($$SELECT rag_generate('Hello', 'nowhere')$$);
SELECT fails($$CREATE SERVER bad FOREIGN DATA WRAPPER rag_llm OPTIONS (key_header 'api key')$$);
SELECT fails($$CREATE SERVER bad FOREIGN DATA WRAPPER rag_llm OPTIONS (key_header E'x\r\nHost: y')$$);
SELECT fails($$CREATE SERVER bad FOREIGN DATA WRAPPER rag_llm OPTIONS (key_header '')$$);
SELECT fails($$CREATE SERVER bad FOREIGN DATA WRAPPER rag_llm OPTIONS (num_ctx '0')$$);
SELECT fails($$CREATE SERVER bad FOREIGN DATA WRAPPER rag_llm OPTIONS (num_ctx '-1')$$);
SELECT fails($$CREATE SERVER bad FOREIGN DATA WRAPPER rag_llm OPTIONS (num_ctx 'large')$$);
SELECT line ~ '^38000: provider "home" cannot be reached at http://127.0.0.1:9/api' FROM fails($$SELECT rag_generate('Hello', 'home')$$) AS line WHERE line !~ '^(HINT|DETAIL)';
SELECT line ~ '^38000: provider "azure" cannot be reached' FROM fails($$SELECT rag_generate('Hello', 'azure')$$) AS line WHERE line !~ '^(HINT|DETAIL)';

-- What a protocol has no words for is refused before a call, and says where to look.
ALTER SERVER vectors OPTIONS (ADD model 'm');
SELECT fails($$SELECT rag_generate('Hello', 'vectors')$$);
SELECT fails($$SELECT * FROM rag_add_model('x', server => 'claude')$$);
SELECT fails($$SELECT * FROM rag_add_model('x', server => 'claude', dimension => 3)$$);
SELECT fails($$SELECT * FROM rag_add_model('x', server => 'claude', task => 'rerank')$$);
SELECT fails($$SELECT * FROM rag_add_model('x', server => 'home', task => 'rerank')$$);

-- A reranker behind a server is registered without a call.
SELECT * FROM rag_add_model('ranker', server => 'vectors', model => 'rerank-2.5', task => 'rerank');
SELECT * FROM rag_add_model('embedder', server => 'vectors', dimension => 3, task => 'embed');
SELECT name, task, server, remote_model, dimension, max_tokens, normalized FROM rag.model WHERE NOT builtin ORDER BY name;
SELECT fails($$SELECT * FROM rag_add_model('x', server => 'vectors', task => 'translate')$$);
SELECT fails($$SELECT * FROM rag_add_model('x', server => 'vectors', task => '')$$);
SELECT fails($$SELECT * FROM rag_add_model('x', server => 'vectors', task => 'rerank', dimension => 3)$$);
SELECT fails($$SELECT * FROM rag_add_model('x', '/nonexistent/model', task => 'rerank')$$);
SELECT fails($$SELECT * FROM rag_add_model('ranker', server => 'vectors', task => 'rerank')$$);

-- It scores, and gives no vectors; a model that gives vectors does not score.
SELECT line ~ '^38000: provider "vectors" cannot be reached' FROM fails($$SELECT * FROM rag_rerank('Why?', ARRAY['a', 'b'], 'ranker')$$) AS line WHERE line !~ '^(HINT|DETAIL)';
SELECT count(*) FROM rag_rerank('Why?', ARRAY[NULL], 'ranker');
SELECT fails($$SELECT rag_embed('text', 'ranker')$$);
SELECT fails($$SELECT * FROM rag_rerank('Why?', ARRAY['a'], 'embedder')$$);

-- Who may not use the server may not use its model.
SET ROLE regress_stranger;
SELECT fails($$SELECT * FROM rag_rerank('Why?', ARRAY['a'], 'ranker')$$);
SELECT fails($$SELECT * FROM rag_add_model('x', server => 'vectors', task => 'rerank')$$);
RESET ROLE;

-- A schema that is none fails before anybody is called.
SELECT fails($$SELECT rag_generate('Hello', 'home', options => '{"schema": "object"}')$$);
SELECT fails($$SELECT rag_generate('Hello', 'home', options => '{"schema": true}')$$);
SELECT fails($$SELECT rag_generate('Hello', 'home', options => '{"schema": {"type": "objekt"}}')$$);
SELECT fails($$SELECT rag_generate('Hello', 'home', options => '{"schema": {"$ref": "http://127.0.0.1:9/x"}}')$$);
-- How words are chosen: what is out of range, and what a protocol has no word for.
SELECT fails(format('SELECT rag_generate(''Hello'', ''claude'', options => %L)', options))
FROM unnest(ARRAY['{"preset": "wild"}', '{"temperature": 2.5}', '{"top_p": 0}', '{"top_k": 0}', '{"top_k": "many"}', '{"frequency_penalty": 3}', '{"presence_penalty": 0.5}']) AS options;
SELECT fails($$SELECT rag_answer('x', options => '{"answer": {"top_p": 1.5}}')$$);
SELECT fails($$SELECT rag_generate('Hello', 'home', options => '{"scheme": {}}')$$);
SELECT fails($$SELECT rag_generate('Hello', 'extractive', options => '{"schema": {}}')$$);
SELECT line ~ '^38000: provider "home" cannot be reached' FROM fails($$SELECT rag_generate('Hello', 'home', options => '{"schema": {"type": "object"}}')$$) AS line WHERE line !~ '^(HINT|DETAIL)';

-- A server that is gone takes its reranker out of use.
DROP SERVER vectors;
SELECT fails($$SELECT * FROM rag_rerank('Why?', ARRAY['a'], 'ranker')$$);
SELECT rag_drop_model('ranker');
SELECT rag_drop_model('embedder');
SELECT count(*) FROM rag.model WHERE NOT builtin;
