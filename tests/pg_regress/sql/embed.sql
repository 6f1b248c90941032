-- rag_embed.
\set SHOW_CONTEXT never
\pset format unaligned
\pset tuples_only on
SET client_min_messages = warning;

-- A vector of the model's dimension and of length 1.
SELECT vector_dims(rag_embed('That is a happy person')), round(vector_norm(rag_embed('That is a happy person'))::numeric, 3);

-- Near in meaning is near in space. The published cosines are 0.6946, 0.9429 and 0.2569.
SELECT other, model, abs(1 - (rag_embed('That is a happy person', model) <=> rag_embed(other, model)) - cosine) < tolerance
FROM (VALUES ('That is a happy dog', 0.6946), ('That is a very happy person', 0.9429), ('Today is a sunny day', 0.2569)) AS published (other, cosine),
     (VALUES ('all-minilm-l6-v2-fp32', 0.0002), ('all-minilm-l6-v2', 0.03)) AS models (model, tolerance)
ORDER BY 2, 1;

-- Alone or in a batch, among shorter and longer ones: the same vector.
SELECT max(abs(a - b)) < 1e-5
FROM (SELECT ARRAY['short', 'That is a happy person', repeat('a longer text, said again. ', 20)] AS texts) t,
     LATERAL (SELECT rag_embed_batch(texts, 'all-minilm-l6-v2-fp32') AS batch) e,
     generate_subscripts(texts, 1) AS i,
     LATERAL unnest(batch[i]::real[], rag_embed(texts[i], 'all-minilm-l6-v2-fp32')::real[]) AS u (a, b);

-- NULL in, NULL out; in an array at its place.
SELECT rag_embed(NULL::text) IS NULL, rag_embed_batch(NULL::text[]) IS NULL;
SELECT i, vectors[i] IS NULL FROM (SELECT rag_embed_batch(ARRAY['one', NULL, 'three']) AS vectors) v, generate_series(1, 3) AS i;
SELECT rag_embed_batch('{}'::text[]);
SELECT cardinality(rag_embed_batch(ARRAY[NULL, NULL]::text[]));

-- The empty text, text without letters, and text longer than the model reads have vectors too.
SELECT vector_dims(rag_embed('')), vector_dims(rag_embed(E' \n')), vector_dims(rag_embed('!?')), vector_dims(rag_embed(repeat('word ', 5000)));

-- The model of the setting, or the one named.
SET rag.embedding_model = 'all-minilm-l6-v2-fp32';
SELECT rag_embed('text') = rag_embed('text', 'all-minilm-l6-v2-fp32'), rag_embed('text') = rag_embed('text', 'all-minilm-l6-v2');
RESET rag.embedding_model;

-- In ORDER BY it is called once, and an index serves it.
CREATE TABLE points (id integer PRIMARY KEY, embedding vector(384));
INSERT INTO points SELECT i, rag_embed('text number ' || i) FROM generate_series(1, 20) AS i;
CREATE INDEX ON points USING hnsw (embedding vector_cosine_ops);
SET enable_seqscan = off;
EXPLAIN (COSTS OFF) SELECT id FROM points ORDER BY embedding <=> rag_embed('text number 7') LIMIT 1;
SELECT id FROM points ORDER BY embedding <=> rag_embed('text number 7') LIMIT 1;
RESET enable_seqscan;

-- Planning alone does not call the model: it does not even look whether there is one.
EXPLAIN (COSTS OFF) SELECT rag_embed('text', 'nowhere');

-- Parallel workers can call it.
SET parallel_setup_cost = 0;
SET parallel_tuple_cost = 0;
SET min_parallel_table_scan_size = 0;
SELECT count(*) FROM points WHERE vector_dims(rag_embed('number ' || id)) = 384;
RESET ALL;
SET client_min_messages = warning;

-- What cannot be done.
SELECT fails($$SELECT rag_embed('text', 'nowhere')$$);
SELECT fails($$SELECT rag_embed('text', kind => 'document')$$);
SELECT fails($$SELECT rag_embed('text', kind => NULL)$$);
SELECT fails($$SELECT rag_embed_batch(ARRAY['text'], 'nowhere')$$);
SET rag.embedding_model = 'nowhere';
SELECT fails($$SELECT rag_embed('text')$$);
RESET rag.embedding_model;
