-- rag_retrieve: rewrite, route. What needs a language model is tested in tests/system/rewrite.rs.
\set SHOW_CONTEXT never
\pset format unaligned
\pset tuples_only on
SET client_min_messages = warning;

CREATE TABLE facts (id integer PRIMARY KEY, body text, year integer);
INSERT INTO facts VALUES
    (1, 'Ink for quills was made of oak galls and iron salts. Iron gall ink darkens on parchment.', 1400),
    (2, 'Iron salts and galls were boiled in wine; gum made the ink thick enough for a quill.', 1450),
    (3, 'Galls grow where wasps lay their eggs into oak leaves. Gum comes from acacia trees.', 1700),
    (4, 'The post office opens at nine. Parcels are weighed at the second counter.', 2020),
    (5, 'Ballpoint pens have a paste of dye and oil, and no iron at all.', 1940);
SELECT rag_create_pipeline('facts', 'body', metadata => ARRAY['year']);
CREATE FUNCTION found(query text, options jsonb DEFAULT '{}', mode text DEFAULT 'hybrid', k integer DEFAULT 3) RETURNS text LANGUAGE sql AS
$$SELECT string_agg(source_key, ' ' ORDER BY rank) FROM rag_retrieve(query, 'facts', k => k, mode => mode, options => jsonb_build_object('retrieve', options))$$;

-- Feedback: the words of what was found lead further.
SELECT source_key FROM rag_retrieve('quill ink', mode => 'lexical') ORDER BY 1;
SELECT source_key FROM rag_retrieve('quill ink', mode => 'lexical', rewrite => 'prf', options => '{"retrieve": {"rewrite": {"chunks": 2}}}') ORDER BY 1;
SELECT found('quill ink', '{"rewrite": "prf"}', 'lexical', 1) = found('quill ink', '{}', 'lexical', 1);
SELECT mode, rank, score > 0, dense_rank IS NOT NULL, lexical_rank IS NOT NULL
FROM unnest(ARRAY['dense', 'lexical', 'hybrid']) WITH ORDINALITY AS m (mode, n), rag_retrieve('quill ink', k => 1, mode => mode, rewrite => 'prf') ORDER BY n;
SELECT count(*), count(DISTINCT chunk_id) FROM rag_retrieve('quill ink', k => 10, rewrite => 'prf');
SELECT bool_and(ordered) FROM (SELECT score <= lag(score, 1, 9e9) OVER (ORDER BY rank) AS ordered FROM rag_retrieve('quill ink', k => 9, rewrite => 'prf')) AS r;
SELECT found('quill ink', '{"rewrite": {"by": "prf", "weight": 0}}', 'dense', 5) = found('quill ink', '{}', 'dense', 5);
SELECT found('quill ink', '{"rewrite": {"by": "prf", "chunks": 1, "terms": 3, "weight": 1}}', 'dense', 1);
SELECT count(*) FROM rag_retrieve('quill ink', k => 10, rewrite => 'prf', filter => '{"year": {"lt": 1500}}');
SELECT count(*) FROM rag_retrieve('quill ink', rewrite => 'prf', mode => 'lexical', filter => '{"year": 1}');
SELECT count(*) FROM rag_retrieve('the of', rewrite => 'prf', mode => 'lexical');
SELECT source_key IN ('1', '2'), rerank_score > 0 FROM rag_retrieve('quill ink', k => 1, rewrite => 'prf', rerank => 'late_interaction');
-- The argument wins over the options.
SELECT count(*) > 0 FROM rag_retrieve('quill ink', 'facts', rewrite => 'prf', options => '{"retrieve": {"rewrite": "hyde"}}');
SELECT count(*) > 0 FROM rag_retrieve('quill ink', 'facts', rewrite => 'none', options => '{"retrieve": {"rewrite": "hyde"}}');
SELECT rag_answer('What was ink for quills made of?', options => '{"retrieve": {"rewrite": "prf"}}') ~ 'galls';
-- A question of no word that is indexed, and words that look like operators.
SELECT count(*) > 0 FROM rag_retrieve($$it's ' \ | & !$$, rewrite => 'prf');

-- Routes: by what pipelines hold.
CREATE TABLE opening (id integer PRIMARY KEY, body text);
INSERT INTO opening VALUES (1, 'The library is closed on Sundays. It opens at nine on weekdays.');
COMMENT ON TABLE opening IS 'Opening hours of shops, offices and libraries';
SELECT rag_create_pipeline('opening', 'body');
SELECT rag_alter_pipeline('facts', options => '{"description": "History of writing: ink, pens and paper"}');
SET client_min_messages = notice;
SELECT content FROM rag_retrieve('When is the library open?', 'auto', k => 1);
SET client_min_messages = warning;
SELECT content FROM rag_retrieve('Who invented ink?', 'auto', k => 1, mode => 'dense');
SELECT source_key FROM rag_retrieve('When is the library open?', k => 1, options => '{"retrieve": {"route": "similarity"}}');
SELECT rag_answer('When is the library open?', 'auto') ~ 'nine';
-- Whatever it is called, and whatever it says of itself.
CREATE TABLE sick_notes (id integer PRIMARY KEY, body text, lang text);
INSERT INTO sick_notes VALUES (1, 'The cake at the meeting was good.', 'en'), (2, 'Die Bibliothek ist sonntags geschlossen.', 'de');
CREATE TABLE empty_notes (id integer PRIMARY KEY, body text);
SELECT rag_create_pipeline('sick_notes', 'body', metadata => ARRAY['lang'], options => '{"description": "Everything about libraries, ink and sick notes"}');
SELECT rag_create_pipeline('empty_notes', 'body', options => '{"description": "How was the cake at the meeting?"}');
SELECT source_key FROM rag_retrieve('What was ink made of?', 'auto', k => 1, options => '{"retrieve": {"route": "similarity"}}');
SELECT content FROM rag_retrieve('What was ink made of?', 'auto', k => 1);
SELECT content FROM rag_retrieve('How was the cake at the meeting?', 'auto', k => 1);
-- Of what has the columns of the filter, and a row that it lets through.
SELECT content FROM rag_retrieve('When is the library open?', 'auto', k => 1, filter => '{"lang": "de"}');
SELECT count(*) FROM rag_retrieve('When is the library open?', 'auto', k => 1, filter => '{"lang": "fr"}');
SELECT fails($$SELECT * FROM rag_retrieve('When is the library open?', 'auto', filter => '{"colour": "red"}')$$);
SELECT stage FROM rag_explain('When is the library open?', 'auto') WHERE stage = 'route';
SELECT rag_drop_pipeline('sick_notes'), rag_drop_pipeline('empty_notes');
SELECT fails($$SELECT * FROM rag_retrieve('When is the library open?')$$);
-- A role chooses among the pipelines that it may see.
GRANT SELECT ON facts, facts_rag, facts_rag_chunks TO regress_reader;
SET ROLE regress_reader;
SELECT source_key FROM rag_retrieve('When does the post office open?', 'auto', k => 1);
RESET ROLE;
-- Nobody can have the choice fall on a pipeline by its name.
SELECT fails($$SELECT rag_create_pipeline('facts', 'body', 'auto')$$);
SELECT fails($$SELECT rag_alter_pipeline('facts', name => 'auto')$$);

-- Without a language model.
SELECT way, f FROM unnest(ARRAY['multi_query', 'fusion', 'hyde', 'step_back', 'decompose', 'self_query']) WITH ORDINALITY AS w (way, n), fails(format('SELECT * FROM rag_retrieve(''x'', ''facts'', rewrite => %L)', way)) AS f ORDER BY n;
SELECT fails($$SELECT rag_answer('x', 'facts', options => '{"retrieve": {"rewrite": "hyde"}}')$$);
SELECT fails($$SELECT * FROM rag_retrieve('x', 'auto', options => '{"retrieve": {"route": "llm"}}')$$);

-- What cannot be asked.
SELECT fails($$SELECT * FROM rag_retrieve('x', 'facts', rewrite => 'hide')$$);
SELECT fails($$SELECT * FROM rag_retrieve('x', 'facts', options => '{"retrieve": {"rewrite": "hide"}}')$$);
SELECT fails($$SELECT * FROM rag_retrieve('x', 'facts', rewrite => 'prf', options => '{"retrieve": {"rewrite": {"number": 3}}}')$$);
SELECT fails($$SELECT * FROM rag_retrieve('x', 'facts', rewrite => 'prf', options => '{"retrieve": {"rewrite": {"n": 0}}}')$$);
SELECT fails($$SELECT * FROM rag_retrieve('x', 'facts', rewrite => 'prf', options => '{"retrieve": {"rewrite": {"chunks": 1000}}}')$$);
SELECT fails($$SELECT * FROM rag_retrieve('x', 'facts', rewrite => 'hyde', options => '{"retrieve": {"rewrite": {"llm": "nowhere"}}}')$$);
SELECT fails($$SELECT * FROM rag_retrieve('x', 'facts', options => '{"retrieve": {"rewrite": 7}}')$$);
SELECT fails($$SELECT * FROM rag_retrieve('x', options => '{"retrieve": {"route": "chance"}}')$$);
