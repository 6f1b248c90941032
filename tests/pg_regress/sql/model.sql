-- rag.model, rag_add_model, rag_drop_model.
\set SHOW_CONTEXT never
\pset format unaligned
\pset tuples_only on
SET client_min_messages = warning;

SELECT setting || '/pg_rag/models/all-minilm-l6-v2' AS folder FROM pg_config WHERE name = 'SHAREDIR' \gset

-- Everything about a model is read from its files.
SELECT dimension, max_tokens, pooling, normalized, length(digest) FROM rag_add_model('mine', :'folder');
SELECT dimension, max_tokens FROM rag_add_model('small', :'folder', 'onnx/model_int8.onnx');
SELECT name, file, dimension, max_tokens, pooling, normalized, query_prefix, passage_prefix, length(digest), builtin FROM rag.model ORDER BY name;
SELECT rag_embed('text', 'small') = rag_embed('text', 'all-minilm-l6-v2'), rag_embed('text', 'mine') = rag_embed('text', 'all-minilm-l6-v2-fp32');

-- Names are taken once.
SELECT fails(format('SELECT * FROM rag_add_model(%L, %L)', 'mine', :'folder'));
SELECT fails(format('SELECT * FROM rag_add_model(%L, %L)', 'all-minilm-l6-v2', :'folder'));
SELECT * FROM rag_add_model('mine', :'folder', if_not_exists => true);
SELECT * FROM rag_add_model('all-minilm-l6-v2', '/nonexistent/model', if_not_exists => true);

-- What is no model.
SELECT fails($$SELECT * FROM rag_add_model('x', 'models/x')$$);
SELECT fails($$SELECT * FROM rag_add_model('x', '/nonexistent/model')$$);
SELECT fails($$SELECT * FROM rag_add_model('x', '/etc')$$);
SELECT fails($$SELECT * FROM rag_add_model(NULL, '/nonexistent/model')$$);
SELECT fails($$SELECT * FROM rag_add_model('x', NULL)$$);
SELECT fails($$SELECT * FROM rag_add_model('  ', '/nonexistent/model')$$);
SELECT fails($$SELECT * FROM rag_add_model('x', '')$$);
SELECT fails(replace(format('SELECT * FROM rag_add_model(%L, %L, %L)', 'x', :'folder', 'onnx/other.onnx'), :'folder', :'folder'))
       ~ '^(58P01: .*onnx/other.onnx|HINT)';
SELECT fails(format('SELECT * FROM rag_add_model(%L, %L, %L)', 'x', :'folder', '../../../../../../etc/passwd')) ~ '^(22023|58P01|F0000|HINT)';

-- A model in use stays.
CREATE TABLE docs (id integer PRIMARY KEY, body text);
SELECT rag_create_pipeline('docs', 'body', model => 'small');
SELECT fails($$SELECT rag_drop_model('small')$$);
SELECT rag_drop_pipeline('docs');
SELECT rag_drop_model('small');
SELECT fails($$SELECT rag_drop_model('small')$$);
SELECT rag_drop_model('small', if_exists => true);
SELECT fails($$SELECT rag_embed('text', 'small')$$);

-- Superusers only: the server reads the files.
SET ROLE regress_stranger;
SELECT fails($$SELECT * FROM rag_add_model('x', '/nonexistent/model')$$);
SELECT fails($$SELECT rag_drop_model('mine')$$);
SELECT fails($$SELECT rag_drop_model('small', if_exists => true)$$);
SELECT fails($$INSERT INTO rag.model (name, path, file, dimension, max_tokens, pooling, normalized) VALUES ('x', '/', 'x', 1, 1, 'mean', true)$$);
SELECT name FROM rag.model ORDER BY name;
SELECT vector_dims(rag_embed('text', 'mine'));
RESET ROLE;
