-- rag_retrieve: fusion, recency, repeats, variety, the text around a chunk.
\set SHOW_CONTEXT never
\pset format unaligned
\pset tuples_only on
SET client_min_messages = warning;

CREATE TABLE news (id integer PRIMARY KEY, body text, published date, at timestamptz, lang text);
INSERT INTO news VALUES
    (1, 'The mill was built in 1790. It ground rye for the whole valley. In 1921 it burnt down.', '2000-05-01', '2000-05-01', 'en'),
    (2, 'The old mill is being rebuilt. Visitors park their cars behind it.', now() - interval '1 day', now() - interval '1 day', 'en'),
    (3, 'The library opens at nine. On Sundays it is closed.', '2001-01-10', NULL, 'en'),
    (4, 'The library  opens at nine. On Sundays it is CLOSED.', now(), now(), 'en'),
    (5, 'Die Bibliothek öffnet um neun. Sonntags ist sie geschlossen.', '2002-01-01', now() + interval '1 year', 'de');
SELECT rag_create_pipeline('news', 'body', metadata => ARRAY['published', 'at', 'lang'], chunking => '{"by": "sentence", "max_tokens": 20}');
CREATE FUNCTION found(query text, options jsonb, k integer DEFAULT 3, rerank text DEFAULT NULL) RETURNS text LANGUAGE sql AS
$$SELECT string_agg(source_key || '.' || chunk_no, ' ' ORDER BY rank) FROM rag_retrieve(query, k => k, rerank => rerank, options => jsonb_build_object('retrieve', options))$$;

-- Each fusion finds what both sides find; a share of 1 is the one side's order.
SELECT f, found('When did the mill burn down?', jsonb_build_object('fusion', f), 1) FROM unnest(ARRAY['combined', 'weighted', 'rrf']) AS f;
SELECT n, score BETWEEN 0 AND 1 FROM unnest(ARRAY['minmax']) AS n, rag_retrieve('the mill', k => 3, options => jsonb_build_object('retrieve', jsonb_build_object('fusion', 'weighted', 'normalize', n)));
SELECT found('the old mill', '{"fusion": "weighted", "dense_weight": 1}', 4) = (SELECT string_agg(source_key || '.' || chunk_no, ' ' ORDER BY rank) FROM rag_retrieve('the old mill', k => 4, mode => 'dense'));
SELECT bool_and(ordered) FROM (SELECT score <= lag(score, 1, 9e9) OVER (ORDER BY rank) AS ordered FROM rag_retrieve('the old mill', k => 9)) AS r;

-- How close the words are, and what the best text names: the second one that the question needs.
BEGIN;
CREATE TABLE towns (id integer PRIMARY KEY, body text);
INSERT INTO towns VALUES
    (1, 'Iron gall ink was invented in Old Lindow, a village by the sea.'),
    (2, 'The mayor is chosen by all people every fourth year.'),
    (3, 'Old Lindow, a parish with a mayor and a school.'),
    (4, 'In which town was the printing press invented? Nobody knows.'),
    (5, 'Ink is sold in the town hall. Ask for the mayor.');
SELECT rag_create_pipeline('towns', 'body', refresh => 'sync');
SELECT closeness, (SELECT string_agg(source_key, ' ' ORDER BY rank) FROM rag_retrieve('Who is the mayor of the town where iron gall ink was invented?', 'towns', options => jsonb_build_object('retrieve', jsonb_build_object('closeness', closeness))))
FROM unnest(ARRAY[true, false]) AS closeness;
ROLLBACK;

-- The one text with a rare name, of a hundred that have all other words of the question.
BEGIN;
CREATE TABLE visits (id integer PRIMARY KEY, body text);
INSERT INTO visits SELECT n, format('The mill in district %s was inspected in spring by the surveyor, who found its wheel in good order.', n) FROM generate_series(1, 100) AS n;
INSERT INTO visits VALUES (101, 'The mill of Zwicknagel was inspected by the surveyor, who found that its wheel was worn.');
SELECT rag_create_pipeline('visits', 'body', refresh => 'sync');
SELECT mode, EXISTS (SELECT FROM rag_retrieve('When was the mill of Zwicknagel inspected by the surveyor, and was its wheel in good order?', 'visits', k => 10, mode => mode) WHERE source_key = '101') FROM unnest(ARRAY['hybrid', 'lexical']) AS mode;
ROLLBACK;

-- Recency.
SELECT found('When does the library open?', '{"recency": {"column": "published", "half_life": 30, "weight": 0.9}}', 1);
SELECT found('When does the library open?', '{"recency": {"column": "at", "half_life": 30, "weight": 0.9}}', 1);
SELECT found('When did the mill burn down?', '{"recency": {"column": "published", "half_life": 30, "weight": 0}}', 1);

-- Repeats: the text, or the vector. Which of two like texts comes first is a matter of rounding.
SELECT replace(found('When does the library open?', '{"candidates": 4}', 4), '4.0', '3.0');
SELECT replace(found('When does the library open?', '{"candidates": 4, "dedupe": 1}', 4), '4.0', '3.0');
SELECT count(*), count(DISTINCT lower(regexp_replace(content, '\s+', ' ', 'g'))) FROM rag_retrieve('When does the library open?', k => 9, options => '{"retrieve": {"dedupe": 1}}');
SELECT count(*) FROM rag_retrieve('When does the library open?', k => 9, options => '{"retrieve": {"dedupe": 0}}');
SELECT count(*) FROM rag_retrieve('When does the library open?', k => 9, options => '{"retrieve": {"dedupe_by": "shingles"}}');
SELECT count(*) FROM rag_retrieve('When does the library open?', k => 9, options => '{"retrieve": {"dedupe_by": "shingles", "dedupe": 0}}');
SELECT count(*) FROM rag_retrieve('When does the library open?', k => 9, options => '{"retrieve": {"dedupe_by": "cosine", "dedupe": 0}}');

-- One chunk a row; then variety.
SELECT count(*), count(DISTINCT source_key) FROM rag_retrieve('the mill', k => 9, options => '{"retrieve": {"per_source": 1}}');
SELECT found('When does the library open?', '{"mmr": 1}', 2) = found('When does the library open?', '{}', 2);
SELECT count(DISTINCT source_key) FROM rag_retrieve('When does the library open?', k => 2, options => '{"retrieve": {"mmr": 0.2, "dedupe": 1}}');

-- The text around a chunk.
SELECT content, start_char, end_char, substr((SELECT body FROM news WHERE id = 1), start_char + 1, end_char - start_char) = content
FROM unnest(ARRAY[0, 1, 2]) AS n, rag_retrieve('rye for the valley', k => 1, options => jsonb_build_object('retrieve', jsonb_build_object('neighbours', n))) ORDER BY n;
SELECT source_key, content FROM rag_retrieve('rye for the valley', k => 1, options => '{"retrieve": {"expand": "section"}}');
SELECT count(*), count(DISTINCT source_key) FROM rag_retrieve('the mill', k => 9, filter => '{"lang": "en"}', options => '{"retrieve": {"neighbours": 20}}');

-- Reranked: what was read has a score, what was not comes after it.
SELECT rank, source_key, chunk_no, rerank_score > 0.3 FROM rag_retrieve('When did the mill burn down?', k => 3, rerank => 'late_interaction', options => '{"retrieve": {"rerank_candidates": 2}}');
SELECT abs(score - rerank_score) < 1e-9 FROM rag_retrieve('When did the mill burn down?', k => 1, rerank => 'late_interaction', options => '{"retrieve": {"rerank_weight": 1}}');
SELECT found('When did the mill burn down?', '{"rerank_weight": 0}', 3, 'late_interaction') = found('When did the mill burn down?', '{}', 3);
SELECT found('When did the mill burn down?', '{}', 1, 'all-minilm-l6-v2-fp32');
SELECT count(*) FROM rag_retrieve('When did the mill burn down?', mode => 'lexical', rerank => 'late_interaction');
SELECT count(*), count(rerank_score), bool_and(rerank_score BETWEEN 0 AND 1), bool_and(score = rerank_score) FILTER (WHERE rerank_score IS NOT NULL) FROM rag_retrieve('When did the mill burn down?', k => 3, rerank => 'reader', options => '{"retrieve": {"rerank_candidates": 2}}');
SELECT found('When did the mill burn down?', '{}', 1, 'reader');
SELECT stage, detail, rows, tokens > 0 FROM rag_explain('When did the mill burn down?', options => '{"retrieve": {"rerank": "reader"}}') WHERE stage = 'rerank';
SELECT rag_answer('When did the mill burn down?', options => '{"retrieve": {"rerank": "late_interaction", "neighbours": 1, "per_source": 1}}');

-- rag_rerank.
SELECT ord, score BETWEEN 0 AND 1 FROM rag_rerank('When is it closed?', ARRAY['The mill is old.', NULL, 'On Sundays it is closed.', '']);
SELECT ord FROM rag_rerank('When is it closed?', ARRAY['The mill is old.', 'On Sundays it is closed.'], 'all-minilm-l6-v2-fp32') LIMIT 1;
SELECT ord FROM rag_rerank('When is it closed?', ARRAY['The mill is old.', NULL, 'On Sundays it is closed.', ''], 'reader') LIMIT 1;
SELECT ord FROM rag_rerank('When is it closed?', ARRAY['The mill is old. ', 'The mill is old. ' || repeat('Nobody knows who has built it. ', 200) || 'On Sundays it is closed.'], 'reader') LIMIT 1;
SELECT count(*) FROM rag_rerank('x', NULL);
SELECT count(*) FROM rag_rerank('x', '{}');
SELECT count(*) FROM rag_rerank('x', ARRAY[NULL]::text[]);
SELECT abs(a.score - b.score) < 0.01 FROM rag_rerank('mill', ARRAY['the mill', 'x']) AS a JOIN rag_rerank('mill', ARRAY['the mill']) AS b USING (ord);

-- What cannot be asked.
SELECT fails($$SELECT * FROM rag_rerank(NULL, ARRAY['x'])$$);
SELECT fails($$SELECT * FROM rag_rerank('', ARRAY['x'])$$);
SELECT fails($$SELECT * FROM rag_rerank('x', ARRAY['x'], 'nobody')$$);
SELECT fails($$SELECT * FROM rag_rerank('x', ARRAY['x'], 'llm')$$);
SELECT fails($$SELECT * FROM rag_retrieve('x', rerank => 'nobody')$$);
SET rag.embedding_model = 'all-minilm-l6-v2';
SELECT fails($$SELECT * FROM rag_rerank('x', ARRAY['x'], 'reader')$$);
SELECT fails($$SELECT rag_create_pipeline('news', 'body', 'other', defaults => '{"retrieve": {"rerank": "reader"}}')$$);
RESET rag.embedding_model;
SELECT options, fails(format('SELECT * FROM rag_retrieve(%L, options => %L)', 'x', jsonb_build_object('retrieve', options::jsonb))) FROM unnest(ARRAY[
    '{"fusion": "best"}', '{"closeness": "on"}', '{"normalize": 1}', '{"dense_weight": 2}', '{"fusion": "weighted", "rrf_k": 3}', '{"mmr": -1}', '{"dedupe": 1.5}', '{"dedupe_by": "words"}',
    '{"per_source": 0}', '{"neighbours": 21}', '{"neighbours": 1, "expand": "section"}', '{"expand": "book"}', '{"rerank_candidates": 0}', '{"rerank_weight": 7}',
    '{"recency": {"column": "published"}}', '{"recency": {"column": "lang", "half_life": 3}}', '{"recency": {"column": "at", "half_life": 0}}',
    '{"recency": {"column": "at", "half_life": 1, "since": 3}}']) AS options;
SELECT fails($$SELECT rag_answer('x', options => '{"retrieve": {"neighbors": 1}}')$$);
SELECT fails($$SELECT rag_answer('x', options => '{"retrieve": {"rerank": "nobody"}}')$$);

-- Row-level security holds for what is put around a chunk and for what is read again.
CREATE TABLE notes (id integer PRIMARY KEY, tenant text, body text);
INSERT INTO notes VALUES (1, 'regress_reader', 'Ink is black. Paper is white.'), (2, 'regress_writer', 'Ink is vermilion. Paper is turquoise.');
ALTER TABLE notes ENABLE ROW LEVEL SECURITY;
CREATE POLICY own ON notes USING (tenant = current_user);
GRANT SELECT ON notes TO regress_reader;
SELECT rag_create_pipeline('notes', 'body', chunking => '{"by": "sentence", "max_tokens": 8}');
SET ROLE regress_reader;
SELECT source_key, content, rerank_score IS NOT NULL FROM rag_retrieve('vermilion ink', 'notes', k => 9, rerank => 'late_interaction', options => '{"retrieve": {"neighbours": 3, "mmr": 0.5, "dedupe": 0.99}}');
SELECT DISTINCT source_key, rerank_score IS NOT NULL FROM rag_retrieve('vermilion ink', 'notes', k => 9, rerank => 'reader');
SELECT stage, rows FROM rag_explain('vermilion ink', 'notes', options => '{"retrieve": {"rerank": "reader"}}') WHERE stage = 'rerank';
RESET ROLE;

-- Which of the texts with equal scores come does not depend on how many are wanted.
CREATE TABLE ties (id integer PRIMARY KEY, body text, kind text);
INSERT INTO ties SELECT n, 'A common word and w' || n, 'a' FROM generate_series(10, 69) AS n;
SELECT rag_create_pipeline('ties', 'body', metadata => '{kind}', refresh => 'sync');
-- These chunks stand behind the others in the table now.
UPDATE ties SET kind = 'b' WHERE id < 40;
SELECT k, (SELECT array_agg(source_key ORDER BY rank) FROM (SELECT source_key, rank FROM rag_retrieve('common', 'ties', k => k, mode => 'lexical') ORDER BY rank LIMIT 3) AS best) FROM unnest(ARRAY[3, 20, 60]) AS k;
