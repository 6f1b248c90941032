-- rag_retrieve.
\set SHOW_CONTEXT never
\pset format unaligned
\pset tuples_only on
SET client_min_messages = warning;

CREATE TABLE docs (id integer PRIMARY KEY, title text, body text, lang text, year integer, price numeric, added date, tags text[], public boolean);
INSERT INTO docs VALUES
    (1, 'Passwords', 'To reset a password, open the settings page and choose Reset password.', 'en', 2020, 1.50, '2020-01-01', '{a,b}', true),
    (2, 'Invoices', 'Invoices are sent on the first day of each month.', 'en', 2021, 2.50, '2021-01-01', '{b}', true),
    (3, 'Sicherung', 'Die Sicherung läuft jede Nacht um zwei Uhr.', 'de', 2022, 10, '2022-01-01', NULL, false),
    (4, 'Parking', 'Visitors park their cars behind the mill.', NULL, NULL, NULL, NULL, NULL, NULL),
    (5, 'Error', 'Error E4711 means that the printer is out of paper.', 'en', 2024, 0, '2024-01-01', '{}', true);
SELECT rag_create_pipeline('docs', 'body', metadata => ARRAY['lang', 'year', 'price', 'added', 'tags', 'public']);

-- The three modes agree on what is plain.
SELECT mode, rank, source_key, chunk_no, content, start_char, end_char, heading, dense_rank, lexical_rank, rerank_score
FROM unnest(ARRAY['dense', 'lexical', 'hybrid']) AS mode, rag_retrieve('How do I reset my password?', k => 1, mode => mode);

-- Their scores: a cosine, BM25, reciprocal ranks.
SELECT mode, score > 0, mode = 'lexical' OR score <= 1, mode <> 'hybrid' OR abs(score - (1 / (60.0 + dense_rank) + 1 / (60.0 + lexical_rank))) < 1e-9
FROM unnest(ARRAY['dense', 'lexical', 'hybrid']) AS mode, rag_retrieve('reset password', k => 1, mode => mode, options => '{"retrieve": {"fusion": "rrf"}}');
SELECT abs(score - 2 / 11.0) < 1e-9 FROM rag_retrieve('reset password', k => 1, options => '{"retrieve": {"rrf_k": 10}}');

-- Nearest vectors come from the index, where that is cheaper than comparing all.
SELECT indexdef FROM pg_indexes WHERE tablename = 'docs_rag_chunks' AND indexdef LIKE '%rag_hnsw%';
BEGIN;
SET LOCAL enable_seqscan = off;
SET LOCAL enable_sort = off;
SELECT mode, (SELECT count(*) FROM rag_retrieve('reset password', k => 3, mode => mode)), pg_stat_get_xact_numscans('docs_rag_chunks_embedding_idx'::regclass) > 0 AS is_used FROM unnest(ARRAY['dense', 'hybrid']) AS mode;
-- So are filters on metadata.
SELECT filter, (SELECT array_agg(source_key ORDER BY source_key) FROM rag_retrieve('reset password', k => 9, mode => 'dense', filter => filter)) FROM unnest(ARRAY[
    '{"lang": "en"}', '{"lang": ["de", null]}', '{"year": {"gte": 2021, "lt": 2024}}', '{"public": true, "lang": "en"}', '{"added": "2022-01-01"}', '{"price": {"gt": 1}}', '{"lang": null}'
]::jsonb[]) AS filter;
ROLLBACK;

-- The words are ranked by the index rag_bm25, which a search by vectors asks for their scores.
SELECT indexdef FROM pg_indexes WHERE tablename = 'docs_rag_chunks' AND indexdef LIKE '%tsv%';
BEGIN;
SET LOCAL enable_seqscan = off;
SET LOCAL enable_sort = off;
SELECT mode, (SELECT count(*) FROM rag_retrieve('reset password', k => 3, mode => mode)), pg_stat_get_xact_numscans('docs_rag_chunks_tsv_idx'::regclass) > 0 AS is_used FROM unnest(ARRAY['lexical', 'hybrid']) AS mode;
-- What the mode lexical gives is the operator's score; a word that the question has twice counts twice.
SELECT asked, abs(r.score + (c.tsv <@> rag_bm25_query('docs_rag_chunks_tsv_idx', words))) < 1e-12
FROM (VALUES ('printer paper', 'printer | paper'), ('printer printer paper', 'printer | printer | paper')) AS q (asked, words_text),
    LATERAL (SELECT words_text::tsquery AS words) AS w, LATERAL rag_retrieve(asked, k => 1, mode => 'lexical') AS r JOIN docs_rag_chunks AS c USING (chunk_id) ORDER BY asked;
ROLLBACK;
-- A pipeline that is older than rag_bm25 is ranked without it.
BEGIN;
DROP INDEX docs_rag_chunks_tsv_idx;
CREATE INDEX ON docs_rag_chunks USING gin (tsv);
SELECT mode, source_key, lexical_rank FROM unnest(ARRAY['lexical', 'hybrid']) AS mode, rag_retrieve('E4711', k => 1, mode => mode);
ROLLBACK;

-- Dense finds other words with the same meaning, lexical finds the word itself.
SELECT source_key FROM rag_retrieve('Where can guests leave their vehicle?', k => 1, mode => 'dense');
SELECT count(*) FROM rag_retrieve('Where can guests leave their vehicle?', mode => 'lexical');
SELECT source_key FROM rag_retrieve('E4711', mode => 'lexical');
SELECT source_key, dense_rank IS NOT NULL, lexical_rank FROM rag_retrieve('E4711') LIMIT 1;

-- k, and ranks from 1 without a gap.
SELECT k, count(*), min(rank), max(rank), count(DISTINCT rank), bool_and(ordered)
FROM generate_series(1, 7, 3) AS k, LATERAL (SELECT rank, score <= lag(score, 1, 9e9) OVER (ORDER BY rank) AS ordered FROM rag_retrieve('mill', k => k)) r
GROUP BY k ORDER BY k;

-- The threshold is the least cosine.
SELECT source_key FROM rag_retrieve('How do I reset my password?', mode => 'dense', options => '{"retrieve": {"threshold": 0.85}}');
SELECT source_key FROM rag_retrieve('How do I reset my password?', options => '{"retrieve": {"threshold": 0.85}}');
SELECT count(*) FROM rag_retrieve('How do I reset my password?', options => '{"retrieve": {"threshold": 0.99}}');

-- Filters: equal, not equal, lists, ranges, NULL; of all types.
CREATE FUNCTION filtered(filter jsonb) RETURNS text LANGUAGE sql AS $$SELECT string_agg(source_key, ' ' ORDER BY source_key) FROM rag_retrieve('a question', k => 10, mode => 'dense', filter => filter)$$;
SELECT filter, filtered(filter) FROM unnest(ARRAY[
    '{}', '{"lang": "en"}', '{"lang": "fr"}', '{"lang": ["de", "fr"]}', '{"lang": []}', '{"lang": null}', '{"lang": ["de", null]}',
    '{"lang": {"ne": "en"}}', '{"lang": {"ne": null}}', '{"lang": {"in": ["en"]}}', '{"lang": {"eq": null}}',
    '{"year": 2021}', '{"year": {"gte": 2021, "lt": 2024}}', '{"year": {"gt": 2020, "lte": 2022}}', '{"year": "2021"}',
    '{"price": 1.5}', '{"price": {"gt": 1}}', '{"added": {"gte": "2021-06-01"}}', '{"public": true}', '{"public": false}',
    '{"tags": ["b"]}', '{"lang": "en", "year": {"gt": 2020}}']::jsonb[]) WITH ORDINALITY AS f (filter, n) ORDER BY n;
SELECT mode, string_agg(source_key, ' ' ORDER BY source_key) FROM unnest(ARRAY['dense', 'lexical', 'hybrid']) AS mode, rag_retrieve('password invoices Sicherung cars printer', k => 10, mode => mode, filter => '{"lang": "en"}') GROUP BY mode ORDER BY mode;
SELECT metadata FROM rag_retrieve('password', k => 1);

-- A value is a value, whatever it looks like.
SELECT filtered('{"lang": "en'' OR true --"}');
SELECT fails($$SELECT filtered('{"year": "2021 OR true"}')$$);
SELECT filtered('{"year": 20.5}') IS NULL AS none, filtered('{"year": {"gte": 2020.5}}') = filtered('{"year": {"gte": 2021}}') AS alike;

-- A question of stop words or signs only has no words to look for.
SELECT count(*) FROM rag_retrieve('the of and', mode => 'lexical');
SELECT count(*) > 0 FROM rag_retrieve('the of and');
SELECT count(*) > 0 FROM rag_retrieve('???');
SELECT source_key FROM rag_retrieve($$it's "a" | & ! ( : * <-> \ password$$, mode => 'lexical');

-- Nothing there, nothing found.
CREATE TABLE nothing (id integer PRIMARY KEY, body text);
SELECT rag_create_pipeline('nothing', 'body');
SELECT mode, (SELECT count(*) FROM rag_retrieve('anything', 'nothing', mode => mode)) FROM unnest(ARRAY['dense', 'lexical', 'hybrid']) AS mode;
SELECT rag_drop_pipeline('nothing');

-- What cannot be asked.
SELECT fails($$SELECT * FROM rag_retrieve(NULL)$$);
SELECT fails($$SELECT * FROM rag_retrieve('')$$);
SELECT fails($$SELECT * FROM rag_retrieve(E' \n')$$);
SELECT fails($$SELECT * FROM rag_retrieve('x', 'nowhere')$$);
SELECT fails($$SELECT * FROM rag_retrieve('x', k => 0)$$);
SELECT fails($$SELECT * FROM rag_retrieve('x', k => 10001)$$);
SELECT fails($$SELECT * FROM rag_retrieve('x', mode => 'sparse')$$);
SELECT fails($$SELECT * FROM rag_retrieve('x', rewrite => 'hyde')$$);
SELECT fails($$SELECT * FROM rag_retrieve('x', rerank => 'cross')$$);
SELECT fails($$SELECT * FROM rag_retrieve('x', options => '{"treshold": 0.5}')$$);
SELECT fails($$SELECT * FROM rag_retrieve('x', options => '{"retrieve": {"threshold": 2}}')$$);
SELECT fails($$SELECT * FROM rag_retrieve('x', options => '{"retrieve": {"threshold": "high"}}')$$);
SELECT fails($$SELECT * FROM rag_retrieve('x', options => '{"retrieve": {"candidates": 0}}')$$);
SELECT fails($$SELECT * FROM rag_retrieve('x', options => '{"retrieve": {"rrf_k": -1}}')$$);
SELECT fails($$SELECT * FROM rag_retrieve('x', options => '7')$$);
SELECT fails($$SELECT * FROM rag_retrieve('x', filter => '{"colour": "red"}')$$);
SELECT fails($$SELECT * FROM rag_retrieve('x', filter => '{"title": "Passwords"}')$$);
SELECT fails($$SELECT * FROM rag_retrieve('x', filter => '{"year": {"near": 1}}')$$);
SELECT fails($$SELECT * FROM rag_retrieve('x', filter => '{"year": {}}')$$);
SELECT fails($$SELECT * FROM rag_retrieve('x', filter => '{"year": {"gt": [1]}}')$$);
SELECT fails($$SELECT * FROM rag_retrieve('x', filter => '{"year": {"in": 3}}')$$);
SELECT fails($$SELECT * FROM rag_retrieve('x', filter => '[1]')$$);
SELECT count(*) FROM rag_retrieve('x', k => NULL, mode => NULL, rewrite => NULL, options => NULL);

-- In a query like any table; once, not once a column.
SELECT d.title, r.rank FROM rag_retrieve('password', k => 2) r JOIN docs d ON d.id = r.source_key::integer WHERE r.rank = 1;
SELECT q, (SELECT source_key FROM rag_retrieve(q, k => 1)) FROM (VALUES ('When are invoices sent?'), ('Where do visitors park?')) AS questions (q);

-- The view is for everyone's own queries.
SELECT source_id FROM docs_rag ORDER BY embedding <=> rag_embed('cars of guests') LIMIT 1;
SELECT source_id FROM docs_rag WHERE tsv @@ to_tsquery('english', 'printer & paper');

-- Roles: who may not read the source finds no pipeline.
SET ROLE regress_stranger;
SELECT fails($$SELECT * FROM rag_retrieve('password', 'docs')$$);
SELECT fails($$SELECT * FROM docs_rag$$);
RESET ROLE;
-- What is granted on the source later has to be granted on the chunks as well.
GRANT SELECT ON docs TO regress_stranger;
SET ROLE regress_stranger;
SELECT fails($$SELECT * FROM rag_retrieve('password', 'docs')$$);
SELECT fails($$SELECT rag_answer('How do I reset a password?', 'docs')$$);
RESET ROLE;
REVOKE SELECT ON docs FROM regress_stranger;

-- Row-level security of the source decides what is found, ranked and counted.
CREATE TABLE notes (id integer PRIMARY KEY, tenant text, body text);
INSERT INTO notes VALUES
    (1, 'regress_reader', 'The colour of the reader is turquoise.'),
    (2, 'regress_writer', 'The colour of the writer is vermilion.'),
    (3, 'regress_writer', 'The writer prefers vermilion paper.');
ALTER TABLE notes ENABLE ROW LEVEL SECURITY;
CREATE POLICY own ON notes USING (tenant = current_user);
GRANT SELECT ON notes TO regress_reader, regress_writer;
SELECT rag_create_pipeline('notes', 'body');
SET ROLE regress_reader;
SELECT count(*) FROM notes_rag;
SELECT count(*) FROM notes_rag_chunks;
SELECT mode, rank, source_key, dense_rank, lexical_rank FROM unnest(ARRAY['dense', 'lexical', 'hybrid']) AS mode, rag_retrieve('vermilion colour', 'notes', mode => mode);
SELECT count(*) FROM rag_retrieve('vermilion', 'notes', mode => 'lexical');
SELECT fails('SELECT * FROM notes_rag_content');
SELECT fails('UPDATE notes_rag_chunks SET content = NULL');
SELECT fails($$SELECT rag_drop_pipeline('notes')$$);
SET ROLE regress_writer;
SELECT mode, rank, source_key, dense_rank, lexical_rank FROM unnest(ARRAY['dense', 'lexical', 'hybrid']) AS mode, rag_retrieve('vermilion', 'notes', mode => mode, k => 2) ORDER BY mode, rank;
RESET ROLE;

-- A right given later reaches the source first; the chunks have their own.
REVOKE SELECT ON notes FROM regress_reader;
SET ROLE regress_reader;
SELECT fails($$SELECT * FROM rag_retrieve('colour', 'notes')$$);
SELECT fails('SELECT * FROM notes_rag');
RESET ROLE;

-- A number beyond all limits, or JSON nested too deep, is shown as text, and keeps nobody from its
-- neighbours.
CREATE TABLE odd (id integer PRIMARY KEY, body text, n numeric, j jsonb);
INSERT INTO odd VALUES
    (1, 'The tram goes to the mill.', 1.5, '{"stops": [1, 2]}'),
    (2, 'The bus goes to the mill.', 1e400, (repeat('[', 200) || repeat(']', 200))::jsonb);
SELECT rag_create_pipeline('odd', 'body', metadata => '{n,j}', refresh => 'sync');
SELECT source_key, jsonb_typeof(metadata->'n') AS n, length(metadata->>'n'), left(metadata->>'j', 17) AS j
FROM rag_retrieve('Where does the tram go?', 'odd') ORDER BY 1;
-- Other numbers keep their scale.
UPDATE odd SET n = 49.90 WHERE id = 1;
SELECT r.metadata->'n' AS found, c.metadata->'n' AS shown
FROM rag_retrieve('Where does the tram go?', 'odd', k => 1) AS r, rag_context('Where does the tram go?', 'odd', k => 1) AS c;
-- A filter can name such a number; as an option it is an error.
SELECT source_key FROM rag_retrieve('tram', 'odd', filter => '{"n": 1e400}');
SELECT fails($$SELECT * FROM rag_retrieve('tram', 'odd', options => '{"retrieve": {"threshold": 1e400}}')$$);
SELECT fails($$SELECT rag_answer('tram', 'odd', options => jsonb_build_object('retrieve', jsonb_build_object('threshold', (repeat('[', 200) || repeat(']', 200))::jsonb)))$$);
