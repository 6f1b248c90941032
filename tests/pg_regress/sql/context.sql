-- rag_context, and what of the chunks is read.
\set SHOW_CONTEXT never
\pset format unaligned
\pset tuples_only on
SET client_min_messages = warning;

CREATE TABLE docs (id integer PRIMARY KEY, body text, author text, written date, at timestamptz, year integer);
INSERT INTO docs VALUES
    (1, 'Visitors park their cars behind the mill. The mill was built in 1890. It has three floors and a wheel.', 'Ada', '2024-05-01', '2024-10-27 02:30:00+02', 2024),
    (2, 'Cars of visitors may stay behind the mill overnight. Bread is sold on Mondays. Flour is ground on Tuesdays.', 'Bo', '-infinity', '2024-10-27 02:10:00+01', 2021),
    (3, 'VISITORS  park their cars BEHIND THE MILL. The mill was built in 1890. It has three floors and a wheel.', NULL, NULL, NULL, NULL),
    (4, 'Visitors park their cars behind the mill. The baker sells rye bread, cakes and flour on Mondays. The mill was built in 1890.', 'Di', '0044-03-15 BC', '2020-01-01 00:00:00+00', 2020);
SELECT rag_create_pipeline('docs', 'body', metadata => ARRAY['author', 'written', 'at', 'year']);

-- What would be sent: each chunk as it is shown, with its tokens.
SELECT number, source_key, chunk_no, content, is_excerpt, heading IS NULL, metadata->>'author', tokens BETWEEN 40 AND 200, score > 0, chunk_id = c.id
FROM rag_context('Where do visitors park their cars?', options => '{"context": {"dedupe_chunks": "none"}}')
LEFT JOIN LATERAL (SELECT k.chunk_id AS id FROM docs_rag_chunks k WHERE k.source_id = source_key::integer) AS c ON true ORDER BY source_key;
SELECT number FROM rag_context('Where do visitors park their cars?', k => 3);
SELECT count(*) FROM rag_context('Where do visitors park their cars?', filter => '{"author": "Nobody"}');

-- The same text is read once, and a chunk or a sentence that says nothing new not at all.
SELECT count(*), count(*) FILTER (WHERE source_key IN ('1', '3')) FROM rag_context('Where do visitors park their cars?');
SELECT source_key, content FROM rag_context('Where do visitors park their cars?', options => '{"context": {"dedupe_sentences": true}}') WHERE is_excerpt ORDER BY source_key;

-- The order, which the numbers follow.
SELECT string_agg(content, ' | ' ORDER BY number) = (SELECT string_agg(content, ' | ' ORDER BY (ARRAY[1, 3, 2])[rank::integer]) FROM rag_retrieve('Where do visitors park their cars?', options => '{"retrieve": {"dedupe": 1}}'))
FROM rag_context('Where do visitors park their cars?', options => '{"context": {"order": "u_curve"}}');
SELECT o, string_agg(source_key, ' ' ORDER BY number)
FROM unnest(ARRAY['written', 'at', 'year']) WITH ORDINALITY AS u (o, n),
     rag_context('Where do visitors park their cars?', options => jsonb_build_object('context', jsonb_build_object('order', 'chronological', 'order_by', o, 'dedupe_chunks', 'none')))
GROUP BY o, n ORDER BY n;

-- The budget: the best whole, the last one cut at a sentence. What is said is what is sent.
SELECT sum(tokens) <= 140, count(*), count(*) FILTER (WHERE is_excerpt), max(number) FILTER (WHERE is_excerpt) = count(*),
       bool_and(NOT is_excerpt OR content ~ '[.][[:space:]]\[\.\.\.\]$')
FROM rag_context('Where do visitors park their cars?', options => '{"context": {"tokens": 140, "headers": []}}');
SELECT bool_and(p.content LIKE '%' || c.content || '%')
FROM rag_context('Where do visitors park their cars?', options => '{"context": {"tokens": 150}}') AS c, rag_prompt('Where do visitors park their cars?', options => '{"context": {"tokens": 150}}') AS p WHERE p.role = 'user';
SELECT count(*) FROM rag_context('Where do visitors park their cars?', options => '{"context": {"tokens": 0, "dedupe_chunks": "none"}}');
-- The tokenizer of the language model counts exactly, another one is only an estimate.
SELECT a.tokens < b.tokens FROM rag_context('Where do visitors park?', k => 1, options => '{"context": {"tokenizer": "all-minilm-l6-v2"}}') AS a, rag_context('Where do visitors park?', k => 1) AS b;
SELECT fails($$SELECT * FROM rag_context('Where do visitors park?', options => '{"context": {"tokens": 5}}')$$);

-- Made shorter, and never made up.
SELECT compression, source_key, content
FROM unnest(ARRAY['truncate', 'extractive']) AS u (compression),
     rag_context('Where do visitors park their cars?', options => jsonb_build_object('context', jsonb_build_object('compression', compression, 'compression_ratio', 0.3))) ORDER BY compression DESC, source_key;
SELECT count(*), bool_or(is_excerpt) FROM rag_context('Where do visitors park their cars?', options => '{"context": {"compression": "extractive", "compression_ratio": 1}}');

-- What stands above each.
SELECT substring(regexp_replace(content, '[0-9a-f]{16}', 'MARK', 'g') FROM '^(.*)\nVisitors')
FROM unnest(ARRAY['["source_key", "author", "rank"]', '[]', '["year", "chunk_no", "heading"]']) WITH ORDINALITY AS u (headers, n),
     rag_prompt('Where do visitors park their cars?', k => 1, filter => '{"author": "Ada"}', options => jsonb_build_object('context', jsonb_build_object('headers', headers::jsonb))) WHERE role = 'user' ORDER BY n;

-- An answer cites what is read by its number, and in the words of the chunk.
SELECT c->>'marker', c->>'quote' FROM rag_answer_details('Where do visitors park their cars?', options => '{"context": {"tokens": 150, "order": "u_curve"}, "answer": {"max_sentences": 1}}'), jsonb_array_elements(citations) AS c;

-- The window of a server.
CREATE SERVER small FOREIGN DATA WRAPPER rag_llm OPTIONS (base_url 'http://127.0.0.1:9/context/v1', model 'm', context_window '2048', tokenizer 'all-minilm-l6-v2');
SELECT count(*) FROM rag_context('Where do visitors park their cars?', llm => 'small');
SELECT fails($$SELECT * FROM rag_context('Where do visitors park?', llm => 'small', options => '{"context": {"tokens": 2000}}')$$);
SELECT fails($$SELECT * FROM rag_context('Where do visitors park?', llm => 'small', options => '{"answer": {"max_tokens": 2000}}')$$);
ALTER SERVER small OPTIONS (SET context_window '600');
SELECT fails($$SELECT * FROM rag_prompt('Where do visitors park?', llm => 'small')$$);
SELECT fails($$ALTER SERVER small OPTIONS (SET context_window 'wide')$$);
ALTER SERVER small OPTIONS (SET context_window '0', SET tokenizer 'nowhere');
SELECT fails($$SELECT * FROM rag_context('Where do visitors park?', llm => 'small')$$);

-- What cannot be asked.
SELECT fails($$SELECT * FROM rag_context(NULL)$$);
SELECT fails($$SELECT * FROM rag_context('x', options => '{"context": {"order": "random"}}')$$);
SELECT fails($$SELECT * FROM rag_context('x', options => '{"context": {"order": "chronological"}}')$$);
SELECT fails($$SELECT * FROM rag_context('x', options => '{"context": {"order": "chronological", "order_by": "author"}}')$$);
SELECT fails($$SELECT * FROM rag_context('x', options => '{"context": {"order": "chronological", "order_by": "colour"}}')$$);
SELECT fails($$SELECT * FROM rag_context('x', options => '{"context": {"order_by": "written"}}')$$);
SELECT fails($$SELECT * FROM rag_context('x', options => '{"context": {"headers": ["colour"]}}')$$);
SELECT fails($$SELECT * FROM rag_context('x', options => '{"context": {"compression": "zip"}}')$$);
SELECT fails($$SELECT * FROM rag_context('x', options => '{"context": {"compression": "summarize"}}')$$);
SELECT fails($$SELECT rag_answer('x', options => '{"context": {"compression": "hierarchical"}}')$$);
SELECT fails($$SELECT * FROM rag_context('x', options => '{"context": {"compression_ratio": 0}}')$$);
SELECT fails($$SELECT * FROM rag_context('x', options => '{"context": {"max_summaries": 0}}')$$);
SELECT fails($$SELECT * FROM rag_context('x', options => '{"context": {"tokens": -1}}')$$);
SELECT fails($$SELECT * FROM rag_context('x', options => '{"context": {"tokenizer": "nowhere"}}')$$);
SELECT fails($$SELECT * FROM rag_context('x', options => '{"contexttokens": 1}')$$);
SELECT fails($$SELECT * FROM rag_context('x', llm => 'nowhere')$$);

-- Row-level security holds for what is read, too.
ALTER TABLE docs ENABLE ROW LEVEL SECURITY;
CREATE POLICY ada ON docs USING (author = 'Ada');
GRANT SELECT ON docs, docs_rag, docs_rag_chunks TO regress_reader;
SET ROLE regress_reader;
SELECT number, source_key FROM rag_context('Where do visitors park their cars?', options => '{"context": {"order": "chronological", "order_by": "at"}}');
RESET ROLE;
