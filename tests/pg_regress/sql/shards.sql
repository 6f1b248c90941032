-- What a pipeline over shards is made of, as far as one server can tell: queries that bring their statistics, and what is said of a
-- pipeline that is a shard. How shards are searched is tested with servers of their own.
\set SHOW_CONTEXT never
\pset format unaligned
\pset tuples_only on
SET client_min_messages = warning;

CREATE TABLE docs (id integer PRIMARY KEY, body text, lang varchar(2));
INSERT INTO docs VALUES
    (1, 'The mill ground rye for the whole valley.', 'en'),
    (2, 'Visitors park behind the mill, and bicycles before the mill.', 'en'),
    (3, 'The library opens at nine.', 'en');
SELECT rag_create_pipeline('docs', 'body', metadata => ARRAY['lang'], refresh => 'sync');

-- The score is that of the index, where its statistics are given.
CREATE FUNCTION weighted(words tsquery) RETURNS rag.bm25_weighted_query LANGUAGE sql AS $$
    SELECT ROW(NULL, words, ARRAY[0.9, 0.4]::float8[] || rag.shard_statistics(p.id, rag.database_number(), words))::rag.bm25_weighted_query
    FROM rag.pipeline AS p WHERE p.name = 'docs' $$;
SELECT rag.shard_statistics(id, rag.database_number(), 'mill | nine | nothing') FROM rag.pipeline;
SELECT source_id,
       abs((tsv OPERATOR(rag.<@>) weighted('mill | nine')) - (tsv <@> rag_bm25_query('docs_rag_chunks_tsv_idx', 'mill | nine'))) < 1e-12 AS is_same
FROM docs_rag_chunks ORDER BY source_id;
-- Other statistics, other scores: here nine is in every text, and says nothing.
SELECT source_id FROM docs_rag_chunks
ORDER BY tsv OPERATOR(rag.<@>) ROW(NULL, 'mill | nine', '{0.9,0.4,1000,9000,2,1000}')::rag.bm25_weighted_query, source_id LIMIT 1;
SELECT source_id FROM docs_rag_chunks
ORDER BY tsv OPERATOR(rag.<@>) ROW(NULL, 'mill | nine', '{0.9,0.4,1000,9000,1000,2}')::rag.bm25_weighted_query, source_id LIMIT 1;

-- The index answers it, with the same order.
SET enable_seqscan = off;
SET enable_sort = off;
EXPLAIN (COSTS OFF)
SELECT source_id FROM docs_rag_chunks WHERE tsv @@ 'mill | nine'
ORDER BY tsv OPERATOR(rag.<@>) ROW(NULL, 'mill | nine', '{0.9,0.4,1000,9000,2,1000}')::rag.bm25_weighted_query LIMIT 2;
SELECT source_id FROM docs_rag_chunks WHERE tsv @@ 'mill | nine'
ORDER BY tsv OPERATOR(rag.<@>) ROW(NULL, 'mill | nine', '{0.9,0.4,1000,9000,2,1000}')::rag.bm25_weighted_query LIMIT 2;
SELECT source_id FROM docs_rag_chunks WHERE tsv @@ 'mill | nine'
ORDER BY tsv OPERATOR(rag.<@>) ROW(NULL, 'mill | nine', '{0.9,0.4,1000,9000,1000,2}')::rag.bm25_weighted_query LIMIT 1;
RESET enable_seqscan;
RESET enable_sort;

-- NULL and what are no statistics.
SELECT 'a:1'::tsvector OPERATOR(rag.<@>) ROW(NULL, NULL, '{0.9,0.4,10,100}')::rag.bm25_weighted_query IS NULL;
SELECT 'a:1'::tsvector OPERATOR(rag.<@>) NULL::rag.bm25_weighted_query IS NULL;
SELECT 'a:1'::tsvector OPERATOR(rag.<@>) ROW(NULL, 'a', NULL)::rag.bm25_weighted_query;
SELECT 'a:1'::tsvector OPERATOR(rag.<@>) ROW(NULL, 'a', '{}')::rag.bm25_weighted_query;
SELECT 'a:1'::tsvector OPERATOR(rag.<@>) ROW(NULL, 'a', '{0.9,0.4,10,100}')::rag.bm25_weighted_query;
SELECT 'a:1'::tsvector OPERATOR(rag.<@>) ROW(NULL, 'a', '{0.9,2,10,100,1}')::rag.bm25_weighted_query;
SELECT 'a:1'::tsvector OPERATOR(rag.<@>) ROW(NULL, 'a', '{0.9,0.4,10,NaN,1}')::rag.bm25_weighted_query;
SELECT 'a:1'::tsvector OPERATOR(rag.<@>) ROW(NULL, 'a', '{0.9,0.4,10,100,NULL}')::rag.bm25_weighted_query;

-- What another database reads of a pipeline, and what it cannot have counted here.
SELECT name, schema, view, model, dimension, config, key_columns, columns, vector_schema, version IS NOT NULL FROM rag.pipeline_as_shard;
SELECT rag.shard_statistics(id, rag.database_number() + 1, 'mill') FROM rag.pipeline;
SELECT rag.shard_statistics(-1, rag.database_number(), 'mill');
SELECT rag.shard_candidates(id, rag.database_number() + 1, '["public", "docs_rag"]', '') FROM rag.pipeline;
SELECT rag.shard_candidates(id, rag.database_number(), '{"public": 1}', '') FROM rag.pipeline;
SELECT rag.shard_candidates(-1, rag.database_number(), '["public", "docs_rag"]', '');
SELECT rag.shard_candidates(id, rag.database_number(), '["public", "docs"]', '') FROM rag.pipeline;
SELECT rag.shard_candidates(id, rag.database_number(), '["public", "docs_rag"]', '') FROM rag.pipeline;
SELECT rag.shard_candidates(id, rag.database_number(), '["public", "docs_rag"]', '\x01ffffffffffff') FROM rag.pipeline;
SELECT rag.shard_candidates(id, rag.database_number(), '["public", "docs_rag"]', NULL) FROM rag.pipeline;
CREATE ROLE nobody_in_particular;
SET ROLE nobody_in_particular;
SELECT count(*) FROM rag.pipeline_as_shard;
SELECT rag.shard_statistics(1, rag.database_number(), 'mill');
RESET ROLE;
-- Who may not read texts has no words of them counted.
GRANT SELECT (id) ON docs TO nobody_in_particular;
SET ROLE nobody_in_particular;
SELECT rag.shard_statistics(id, rag.database_number(), 'mill') FROM rag.pipeline;
RESET ROLE;
GRANT SELECT (chunk_id) ON docs_rag TO nobody_in_particular;
GRANT SELECT (chunk_id) ON docs_rag_chunks TO nobody_in_particular;
SET ROLE nobody_in_particular;
SELECT rag.shard_statistics(id, rag.database_number(), 'mill') FROM rag.pipeline;
RESET ROLE;
DROP OWNED BY nobody_in_particular;
DROP ROLE nobody_in_particular;

-- Types have no length, and domains are what they are made of.
CREATE DOMAIN code AS char(2);
CREATE DOMAIN country AS code;
CREATE TABLE codes (code char(3) PRIMARY KEY, body text, country country, flags bit(3));
SELECT rag_create_pipeline('codes', 'body', metadata => ARRAY['country', 'flags']);
SELECT c FROM rag.pipeline_as_shard AS s, jsonb_array_elements(s.columns) AS c
WHERE s.name = 'codes' AND c ->> 0 IN ('source_code', 'country', 'flags') ORDER BY c ->> 0;
SELECT rag_drop_pipeline('codes');

-- Shards that cannot be.
SELECT rag_create_pipeline(name => 'all', shards => '{}');
SELECT rag_create_pipeline(name => 'all', shards => ARRAY[NULL]);
SELECT rag_create_pipeline(name => 'all', shards => '{docs}');
SELECT rag_create_pipeline(name => 'all', shards => '{a.b.c}');
SELECT rag_create_pipeline(name => 'all', shards => '{nowhere.docs}');
CREATE SERVER writer FOREIGN DATA WRAPPER rag_llm OPTIONS (base_url 'http://127.0.0.1:9/shards/v1', model 'm');
SELECT rag_create_pipeline(name => 'all', shards => '{writer.docs}');
DROP SERVER writer;
SELECT rag_create_pipeline(shards => '{nowhere.docs}');
SELECT rag_create_pipeline('docs', 'body', name => 'all', shards => '{nowhere.docs}');
SELECT rag_create_pipeline(name => 'all', shards => '{nowhere.docs}', model => 'all-minilm-l6-v2');
SELECT rag_alter_pipeline('docs', shards => '{nowhere.docs}');
SELECT rag_create_pipeline(name => 'all');
SELECT count(*) FROM rag.shard;
