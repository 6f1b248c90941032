-- Local language models: what is refused before there is one. How they write is in tests/local_model.rs and tests/system.
\set SHOW_CONTEXT never
\pset format unaligned
\pset tuples_only on
SET client_min_messages = warning;

CREATE SERVER writer FOREIGN DATA WRAPPER rag_llm OPTIONS (api 'local', model 'writer');
CREATE SERVER nameless FOREIGN DATA WRAPPER rag_llm OPTIONS (api 'local');
SELECT fails($$SELECT rag_generate('Say hello.', 'writer')$$);
SELECT fails($$SELECT rag_generate('Say hello.', 'nameless')$$);

-- Nothing says how a host is reached.
SELECT fails($$ALTER SERVER writer OPTIONS (ADD base_url 'http://127.0.0.1:9/v1')$$);
SELECT fails($$ALTER SERVER writer OPTIONS (ADD proxy 'http://127.0.0.1:9')$$);
SELECT fails($$ALTER SERVER writer OPTIONS (ADD num_ctx '0')$$);

-- A model that does not write, and a server that neither embeds nor reranks.
ALTER SERVER writer OPTIONS (SET model 'all-minilm-l6-v2');
SELECT fails($$SELECT rag_generate('Say hello.', 'writer')$$);
SELECT fails($$SELECT * FROM rag_add_model('vectors', server => 'writer')$$);

-- Files that are none.
SELECT fails($$SELECT * FROM rag_add_model('writer', 'model.gguf')$$);
SELECT fails($$SELECT * FROM rag_add_model('writer', '/nowhere/model.gguf')$$);
SELECT fails($$SELECT * FROM rag_add_model('writer', '/nowhere/model.gguf', file => 'x.onnx')$$);
SELECT fails($$SELECT * FROM rag_add_model('writer', '/nowhere/model.gguf', dimension => 3)$$);
SELECT fails($$SELECT * FROM rag_add_model('writer', '/nowhere/model.gguf', task => 'rerank')$$);
SELECT current_setting('data_directory') || '/regress_no_model.gguf' AS no_model \gset
COPY (SELECT 'This is no model at all.') TO :'no_model';
SELECT replace(fails(format($$SELECT * FROM rag_add_model('writer', %L)$$, :'no_model')), :'no_model', '/data/no_model.gguf');
\setenv NO_MODEL :no_model
\! rm -f "$NO_MODEL"

-- What is no model at all is not one that embeds either, and only superusers have files read.
SELECT fails($$SELECT rag_embed('x', 'writer')$$);
SET ROLE regress_stranger;
SELECT fails($$SELECT * FROM rag_add_model('writer', '/nowhere/model.gguf')$$);
SELECT fails($$SELECT rag_generate('Say hello.', 'writer')$$);
