-- Late chunking: a document is embedded as a whole and cut afterwards.
\set SHOW_CONTEXT never
\pset format unaligned
\pset tuples_only on
CREATE TABLE doc (id integer PRIMARY KEY, name text, body text);
INSERT INTO doc VALUES
    (1, 'Berlin', 'Berlin is the capital of Germany. Its rivers are the Spree and the Havel. The city has more than three million people.'),
    (2, 'Ink', 'Iron gall ink is made of oak galls.'),
    (3, NULL, NULL),
    (4, 'Empty', '');
SELECT rag_create_pipeline('doc', 'body', chunking => '{"by": "sentence", "max_tokens": 16}', options => '{"backfill": "now"}');
SELECT rag_create_pipeline('doc', 'body', 'whole', chunking => '{"by": "sentence", "max_tokens": 16, "late": true}', options => '{"backfill": "now"}');
SELECT name, chunking->'late' AS late FROM rag.pipeline ORDER BY name;

-- The same chunks with other vectors, but for the document of one chunk.
SELECT a.source_id, a.chunk_no, a.content = b.content AS same_text, (a.embedding <=> b.embedding) < 1e-4 AS same_vector, round((a.embedding <=> b.embedding)::numeric, 1) BETWEEN 0 AND 0.8 AS is_like, a.content_hash = b.content_hash AS same_hash
FROM doc_rag_chunks a JOIN whole_rag_chunks b USING (source_id, chunk_no) ORDER BY 1, 2;
SELECT bool_and(abs(vector_norm(embedding) - 1) < 1e-5) FROM whole_rag_chunks;

-- A sentence that names its subject by a pronoun is nearer to a question that names it.
SELECT (a.embedding <=> q) > (b.embedding <=> q) AS gains
FROM doc_rag_chunks a JOIN whole_rag_chunks b USING (source_id, chunk_no), rag_embed('How many inhabitants has Berlin?') AS q
WHERE a.content LIKE 'The city has%';
SELECT source_key, chunk_no FROM rag_retrieve('How many inhabitants has Berlin?', 'whole', k => 1, mode => 'dense', filter => NULL);

-- Nothing is embedded again as long as nothing in the document changes; then all of it is.
CREATE TEMP TABLE before AS SELECT chunk_id, content, embedding FROM whole_rag_chunks WHERE source_id = 1;
SELECT rag_alter_pipeline('whole', refresh => 'manual');
UPDATE doc SET body = body WHERE id = 1;
CALL rag_run('whole');
SELECT count(*) FROM before JOIN whole_rag_chunks USING (chunk_id, content) WHERE before.embedding = whole_rag_chunks.embedding;
UPDATE doc SET body = replace(body, 'Berlin', 'Bern') WHERE id = 1;
CALL rag_run('whole');
SELECT before.content, before.embedding = whole_rag_chunks.embedding AS same FROM before JOIN whole_rag_chunks USING (content) ORDER BY before.content;

-- The title is part of the whole.
SELECT rag_alter_pipeline('whole', options => '{"contextual": true, "title": "name"}');
CALL rag_run('whole');
SELECT source_id, chunk_no, content, context FROM whole_rag_chunks ORDER BY 1, 2;
SELECT chunking->'late' AS late, contextual FROM rag.pipeline WHERE name = 'whole';

-- A document longer than the model reads goes through in windows.
INSERT INTO doc SELECT 5, 'Long', string_agg(format('Sentence number %s speaks of nothing in particular.', n), ' ' ORDER BY n) FROM generate_series(1, 200) AS n;
CALL rag_run('whole');
SELECT count(*) > 100, bool_and(abs(vector_norm(embedding) - 1) < 1e-5), count(DISTINCT embedding) = count(*) FROM whole_rag_chunks WHERE source_id = 5;
SELECT rag_alter_pipeline('whole', chunking => '{"late": false}');
CALL rag_run('whole');
SELECT chunking->'late' AS late FROM rag.pipeline WHERE name = 'whole';

-- What cannot be asked.
CREATE SERVER far FOREIGN DATA WRAPPER rag_llm OPTIONS (api 'openai', base_url 'http://127.0.0.1:9/late/v1', model 'm');
CREATE USER MAPPING FOR CURRENT_USER SERVER far OPTIONS (api_key 'k');
SELECT fails($$SELECT rag_create_pipeline('doc', 'body', 'x', chunking => '{"late": "yes"}')$$);
SELECT fails($$SELECT rag_create_pipeline('doc', 'body', 'x', options => '{"late": true}')$$);
INSERT INTO rag.model (name, server, remote_model, dimension, max_tokens, normalized) VALUES ('remote', 'far', 'm', 3, 256, true);
INSERT INTO rag.model (name, path, file, dimension, max_tokens, pooling, normalized, digest) VALUES ('first', '/nowhere', 'onnx/model.onnx', 3, 256, 'cls', true, 'x');
SELECT fails($$SELECT rag_create_pipeline('doc', 'body', 'x', model => 'remote', chunking => '{"late": true}')$$);
SELECT fails($$SELECT rag_create_pipeline('doc', 'body', 'x', model => 'first', chunking => '{"late": true}')$$);
SELECT fails($$SELECT rag_alter_pipeline('whole', model => 'first', chunking => '{"late": true}')$$);
