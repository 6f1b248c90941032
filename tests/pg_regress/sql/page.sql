-- The option retrieve.offset: pages of what is found.
\set SHOW_CONTEXT never
\pset format unaligned
\pset tuples_only on
\pset null NULL
SET client_min_messages = warning;
CREATE TABLE docs (id integer PRIMARY KEY, body text, lang text, added date);
INSERT INTO docs SELECT i, 'The mill number ' || i || ' grinds ' || (ARRAY['rye', 'wheat', 'oats', 'spelt', 'barley'])[1 + i % 5] || ' for village ' || i * 7 % 13
    || '. Its wheel is made of ' || (ARRAY['oak', 'iron', 'elm'])[1 + i % 3] || '. It was built in ' || 1700 + i || '.',
    CASE WHEN i % 4 = 0 THEN 'de' ELSE 'en' END, date '2024-01-01' + i FROM generate_series(1, 60) AS i;
SELECT rag_create_pipeline('docs', 'body', metadata => ARRAY['lang', 'added'], refresh => 'sync', chunking => '{"by": "sentence", "max_tokens": 24}');
SELECT count(*) > 60 FROM docs_rag_chunks;

-- Whether pages of 3, one after the other, are what one page has; how many rows they are, and whether one chunk is there twice.
CREATE FUNCTION paged(mode text, rerank text, options jsonb, pipeline text DEFAULT NULL) RETURNS text LANGUAGE sql AS $$
    WITH whole AS (
        SELECT r.* FROM rag_retrieve('Which mill grinds rye?', pipeline, k => 12, mode => mode, rerank => rerank, options => jsonb_build_object('retrieve', options || '{"offset": 0}')) AS r
    ), pages AS (
        SELECT r.* FROM generate_series(0, 9, 3) AS o (n), LATERAL rag_retrieve('Which mill grinds rye?', pipeline, k => 3, mode => mode, rerank => rerank, options => jsonb_build_object('retrieve', options || jsonb_build_object('offset', o.n))) AS r
    )
    SELECT concat_ws(' ', (SELECT array_agg((rank, pipeline, chunk_id, content, score) ORDER BY rank) FROM whole) = (SELECT array_agg((rank, pipeline, chunk_id, content, score) ORDER BY rank) FROM pages),
        (SELECT count(*) FROM pages), (SELECT count(*) - count(DISTINCT (pipeline, chunk_id)) FROM pages))
$$;
SELECT mode, paged(mode, NULL, '{}') FROM unnest(ARRAY['dense', 'lexical', 'hybrid']) AS mode;
SELECT options, paged('hybrid', NULL, options::jsonb) FROM unnest(ARRAY['{"rrf_k": 60}', '{"fusion": "weighted"}', '{"threshold": 0.5}', '{"mmr": 0.6}', '{"dedupe": 0.99}',
    '{"per_source": 1}', '{"recency": {"column": "added", "half_life": 10}}', '{"neighbours": 1}', '{"expand": "section"}', '{"filter": {"lang": "de"}}', '{"candidates": 12}', '{"graph": "off"}']) AS options;
-- What is read again is the same for each page; what is behind it follows.
SELECT paged('hybrid', 'late_interaction', options) FROM unnest(ARRAY['{}', '{"rerank_candidates": 5}', '{"rerank_candidates": 5, "rerank_weight": 1}']::jsonb[]) AS options;
SELECT paged('dense', 'late_interaction', '{"rerank_candidates": 5}');
-- As many chunks as one page without an offset has, and the same.
SELECT count(*), bool_and(a = b) FROM rag_retrieve('Which mill grinds rye?', k => 12) AS a JOIN rag_retrieve('Which mill grinds rye?', k => 12, options => '{"retrieve": {"offset": 0}}') AS b USING (rank);
-- Ranks go on; behind the last row there is none.
SELECT min(rank), max(rank), count(*) FROM rag_retrieve('mill', k => 10, options => '{"retrieve": {"offset": 20}}');
SELECT count(*) FROM rag_retrieve('mill', k => 5, filter => '{"id": 7}', options => '{"retrieve": {"offset": 50}}');
SELECT count(*) FROM rag_retrieve('mill', k => 10000, options => '{"retrieve": {"offset": 90000, "candidates": 100000}}');

-- Several pipelines: each gives all of its candidates, and one list is cut into pages.
CREATE TABLE notes (id integer PRIMARY KEY, body text);
INSERT INTO notes SELECT i, 'Note ' || i || ': the mill grinds rye on day ' || i || '.' FROM generate_series(1, 10) AS i;
SELECT rag_create_pipeline('notes', 'body', refresh => 'sync');
SELECT mode, paged(mode, NULL, '{}', '*') FROM unnest(ARRAY['dense', 'lexical', 'hybrid']) AS mode;
SELECT paged('hybrid', 'late_interaction', '{}', '{docs,notes}');
SELECT min(rank), max(rank) FROM rag_retrieve('mill', '*', k => 4, options => '{"retrieve": {"offset": 8}}');

-- Together they have as many as each has, however few are those of one of them.
SELECT rag_alter_pipeline('notes', defaults => '{"retrieve": {"candidates": 4}}');
SELECT mode, paged(mode, NULL, '{}', '*') FROM unnest(ARRAY['dense', 'lexical', 'hybrid']) AS mode;
SELECT count(*), count(*) FILTER (WHERE pipeline = 'notes') <= 4 FROM rag_retrieve('mill', '*', k => 10, options => '{"retrieve": {"offset": 0}}');
SELECT fails($$SELECT * FROM rag_retrieve('mill', '*', k => 10, options => '{"retrieve": {"offset": 95}}')$$);
SELECT rag_alter_pipeline('notes', defaults => '{}');

-- A walk over the graph adds chunks, and a parent takes the place of several.
CREATE TABLE people (id integer PRIMARY KEY, body text);
INSERT INTO people SELECT i, format('Acme%s GmbH sells mills to Acme%s GmbH. The contract was signed in %s. Rye is ground there by Acme%s GmbH.', i, i % 20 + 1, 1900 + i, i) FROM generate_series(1, 20) AS i;
SELECT rag_create_pipeline('people', 'body', refresh => 'sync', chunking => '{"by": "hierarchical", "max_tokens": 64}', options => '{"graph": {"entities": "rules"}}');
CREATE FUNCTION paged_by(options jsonb) RETURNS text LANGUAGE sql AS $$
    WITH whole AS (
        SELECT r.* FROM rag_retrieve('To whom does Acme3 GmbH sell mills?', 'people', k => 12, options => jsonb_build_object('retrieve', options || '{"offset": 0}')) AS r
    ), pages AS (
        SELECT r.* FROM generate_series(0, 9, 3) AS o (n), LATERAL rag_retrieve('To whom does Acme3 GmbH sell mills?', 'people', k => 3, options => jsonb_build_object('retrieve', options || jsonb_build_object('offset', o.n))) AS r
    )
    SELECT concat_ws(' ', (SELECT array_agg((rank, chunk_id, content, score) ORDER BY rank) FROM whole) = (SELECT array_agg((rank, chunk_id, content, score) ORDER BY rank) FROM pages),
        (SELECT count(*) - count(DISTINCT chunk_id) FROM pages), (SELECT count(*) - count(DISTINCT (source_key, content)) FROM pages))
$$;
SELECT options, paged_by(options::jsonb) FROM unnest(ARRAY['{}', '{"graph": {"weight": 0.5}}', '{"graph": {"weight": 0.5}, "candidates": 12}', '{"expand": "parent"}', '{"graph": {"weight": 0.5}, "expand": "parent"}']) AS options;

-- An answer reads the page.
SELECT jsonb_array_length(context) FROM rag_answer_details('Which mill grinds rye?', 'docs', k => 2, options => '{"retrieve": {"offset": 2}}');

-- What cannot be asked.
SELECT offsets, fails(format('SELECT * FROM rag_retrieve(%L, %L, options => %L)', 'mill', 'docs', jsonb_build_object('retrieve', jsonb_build_object('offset', offsets))))
FROM unnest(ARRAY['-1', '1.5', '"3"', '96', '100001', '5000000000', '1e30', 'null']::jsonb[]) AS offsets;
SELECT fails($$SELECT * FROM rag_retrieve('mill', 'docs', k => 10, options => '{"retrieve": {"offset": 100000, "candidates": 100000}}')$$);
SELECT fails($$SELECT * FROM rag_retrieve('mill', '*', k => 10, options => '{"retrieve": {"offset": 295}}')$$);
SELECT fails($$SELECT rag_alter_pipeline('docs', defaults => '{"retrieve": {"offset": 3}}')$$);
