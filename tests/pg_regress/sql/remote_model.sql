-- rag_add_model with a server; nobody listens where the server is.
\set SHOW_CONTEXT never
\pset format unaligned
\pset tuples_only on
SET client_min_messages = warning;

CREATE SERVER remote FOREIGN DATA WRAPPER rag_llm OPTIONS (base_url 'http://127.0.0.1:9/v1', max_retries '0');
-- A key of its own makes it another provider than in the last run, which may be left alone.
SELECT 'sk-secret-' || md5(random()::text) AS key \gset
CREATE USER MAPPING FOR PUBLIC SERVER remote OPTIONS (api_key :'key');

-- A model is in a folder or behind a server.
SELECT fails($$SELECT * FROM rag_add_model('x')$$);
SELECT fails($$SELECT * FROM rag_add_model('x', '/nonexistent/model', server => 'remote')$$);
SELECT fails($$SELECT * FROM rag_add_model('x', file => 'model.onnx', server => 'remote')$$);
SELECT fails($$SELECT * FROM rag_add_model('x', '/nonexistent/model', model => 'm')$$);
SELECT fails($$SELECT * FROM rag_add_model('x', '/nonexistent/model', dimension => 3)$$);
SELECT fails($$SELECT * FROM rag_add_model('x', '/nonexistent/model', max_tokens => 64)$$);

-- Names and numbers.
SELECT fails($$SELECT * FROM rag_add_model(NULL, server => 'remote', model => 'm', dimension => 3)$$);
SELECT fails($$SELECT * FROM rag_add_model('x', server => ' ', model => 'm', dimension => 3)$$);
SELECT fails($$SELECT * FROM rag_add_model('x', server => 'remote', model => '', dimension => 3)$$);
SELECT fails($$SELECT * FROM rag_add_model('x', server => 'remote', model => 'm', dimension => 0)$$);
SELECT fails($$SELECT * FROM rag_add_model('x', server => 'remote', model => 'm', dimension => 16001)$$);
SELECT fails($$SELECT * FROM rag_add_model('x', server => 'remote', model => 'm', dimension => 3, max_tokens => 7)$$);
SELECT fails($$SELECT * FROM rag_add_model('all-minilm-l6-v2', server => 'remote', model => 'm', dimension => 3)$$);

-- The server.
SELECT fails($$SELECT * FROM rag_add_model('x', server => 'nowhere', model => 'm', dimension => 3)$$);
SELECT fails($$SELECT * FROM rag_add_model('x', server => 'remote', dimension => 3)$$);
SELECT fails($$ALTER SERVER remote OPTIONS (ADD api 'telepathy')$$);
CREATE FOREIGN DATA WRAPPER other;
CREATE SERVER foreigner FOREIGN DATA WRAPPER other;
SELECT fails($$SELECT * FROM rag_add_model('x', server => 'foreigner', model => 'm', dimension => 3)$$);
SELECT line ~ '^38000: provider "remote" cannot be reached', line ~ 'secret' FROM fails($$SELECT * FROM rag_add_model('x', server => 'remote', model => 'm')$$) AS line WHERE line !~ '^(HINT|DETAIL)';
SELECT count(*) FROM rag.model WHERE NOT builtin;

-- With a dimension nobody is called. The model of the server is taken where none is named.
SELECT * FROM rag_add_model('far', server => 'remote', model => 'm', dimension => 3, max_tokens => 64);
ALTER SERVER remote OPTIONS (ADD model 'everyday');
SELECT * FROM rag_add_model('far too', server => 'remote', dimension => 16000);
SELECT name, path, file, server, remote_model, dimension, max_tokens, pooling, normalized, digest, builtin FROM rag.model WHERE NOT builtin ORDER BY name;
SELECT line ~ '^23514: .*model_in_files_or_behind_server' FROM fails($$INSERT INTO rag.model (name, server, dimension, max_tokens, normalized) VALUES ('half', 'remote', 3, 64, true)$$) AS line WHERE line !~ '^DETAIL';

-- Chunks are measured here, with the tokenizer of the default model.
SELECT content, token_count FROM rag_chunk('one two', '{"model": "far"}');
CREATE TABLE docs (id integer PRIMARY KEY, body text);
SELECT fails($$SELECT rag_create_pipeline('docs', 'body', model => 'far', chunking => '{"max_tokens": 65}')$$);

-- Using it takes USAGE on the server.
SET ROLE regress_stranger;
SELECT fails($$SELECT rag_embed('text', 'far')$$);
SELECT fails($$SELECT rag_embed_batch(ARRAY['text'], 'far')$$);
SELECT fails($$SELECT * FROM rag_add_model('x', server => 'remote', model => 'm', dimension => 3)$$);
RESET ROLE;
GRANT USAGE ON FOREIGN SERVER remote TO regress_stranger;
SET ROLE regress_stranger;
SELECT line ~ '^38000: provider "remote" cannot be reached', line ~ 'secret' FROM fails($$SELECT rag_embed('text', 'far')$$) AS line WHERE line !~ '^(HINT|DETAIL)';
SELECT rag_embed(NULL::text, 'far') IS NULL;
SELECT rag_embed_batch('{}'::text[], 'far');
RESET ROLE;

-- A server that is gone takes its models out of use.
DROP SERVER remote CASCADE;
SELECT fails($$SELECT rag_embed('text', 'far')$$);
SELECT rag_drop_model('far');
SELECT rag_drop_model('far too');
SELECT count(*) FROM rag.model WHERE NOT builtin;
