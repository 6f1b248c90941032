-- Entities that chunks name, walks over them, and paths.
CREATE TABLE band (id integer PRIMARY KEY, body text, lang text DEFAULT 'en');
INSERT INTO band VALUES
    (1, 'In 1969 the guitarist Steve Hillage played with Arzachel. The rehearsals were held in a cellar.'),
    (2, 'Later Steve Hillage joined the band Gong, whose founder was Daevid Allen.'),
    (3, 'Daevid Allen was born in Melbourne. He wrote poems about tea.'),
    (4, 'The World Health Organization (WHO) says that tea is harmless.'),
    (5, 'In Geneva the WHO has an office with a view of the lake.'),
    (6, 'Bread is baked at night.');
SELECT rag_create_pipeline('band', 'body', metadata => ARRAY['lang'], refresh => 'sync',
                           options => '{"graph": {"entities": "rules"}}');
SELECT kind, options, relation FROM rag.derivation;
SELECT count(*) FROM rag.derivation_status;

-- Each mention stands where it says.
SELECT c.source_id, m.norm, m.alias_of, m.mentions, substr(c.content, m.start_char + 1, m.end_char - m.start_char) AS written
FROM band_rag_chunks_mentions AS m JOIN band_rag_chunks AS c USING (chunk_id) ORDER BY c.source_id, m.start_char;
SELECT obj_description('band_rag_chunks_mentions'::regclass) IS NOT NULL AS has_comment,
       count(*) FILTER (WHERE col_description(attrelid, attnum) IS NULL) AS without
FROM pg_attribute WHERE attrelid = 'band_rag_chunks_mentions'::regclass AND attnum > 0;

-- A walk comes to what names the same.
SELECT source_key, 'Steve Hillage' = ANY (via) AS is_via
FROM rag_retrieve('Where were the rehearsals of Arzachel held?', k => 2, options => '{"retrieve": {"candidates": 2}}')
WHERE source_key = '2';
SELECT count(via) FROM rag_retrieve('Where were the rehearsals of Arzachel held?', k => 6, options => '{"retrieve": {"graph": "off"}}');
SELECT count(via) FROM rag_retrieve('Where were the rehearsals of Arzachel held?', k => 6, mode => 'dense');
SELECT string_agg(source_key, ' ' ORDER BY rank) = (SELECT string_agg(source_key, ' ' ORDER BY rank)
    FROM rag_retrieve('Where were the rehearsals of Arzachel held?', k => 6, options => '{"retrieve": {"graph": "off"}}')) AS is_same
FROM rag_retrieve('Where were the rehearsals of Arzachel held?', k => 6, options => '{"retrieve": {"graph": {"weight": 0}}}');
-- What the walk brings is added to the score, as often as its weight says.
SELECT bool_and(none.score BETWEEN 0 AND 1) AS are_shares, bool_and(once.score BETWEEN none.score AND none.score + 1) AS is_added,
    sum(once.score) > sum(none.score) AS is_some, bool_and(abs(twice.score - 2 * once.score + none.score) < 1e-9) AS is_twice, count(*)
FROM rag_retrieve('Where were the rehearsals of Arzachel held?', k => 6, options => '{"retrieve": {"graph": {"weight": 0}}}') AS none
JOIN rag_retrieve('Where were the rehearsals of Arzachel held?', k => 6) AS once USING (chunk_id)
JOIN rag_retrieve('Where were the rehearsals of Arzachel held?', k => 6, options => '{"retrieve": {"graph": {"weight": 2}}}') AS twice USING (chunk_id);

-- The short name leads to the long one.
SELECT source_key, via FROM rag_retrieve('Is tea harmless?', k => 3, options => '{"retrieve": {"candidates": 2, "graph": {"chunks": 1}}}')
WHERE source_key = '5';

-- A filter holds for what a walk comes to.
UPDATE band SET lang = 'de' WHERE id = 2;
SELECT count(*) FROM rag_retrieve('Where were the rehearsals of Arzachel held?', k => 6, filter => '{"lang": "en"}',
                                  options => '{"retrieve": {"candidates": 1}}') WHERE source_key = '2';
SELECT count(*) FROM rag_retrieve('Where were the rehearsals of Arzachel held?', k => 6, filter => '{"lang": "de"}') WHERE source_key <> '2';

-- A step of the explanation says over what.
SELECT stage, detail LIKE '%Steve Hillage%' AS says_over_what FROM rag_explain('Where were the rehearsals of Arzachel held?') WHERE stage = 'graph';

-- Paths, each edge with its proof.
SELECT rank, round(score::numeric, 3) AS score, entities FROM rag_graph('Arzachel', hops => 3);
SELECT e ->> 'from' AS "from", e ->> 'to' AS "to", e ->> 'source_key' AS source_key,
       substr(b.body, (e -> 'from_span' ->> 0)::int + 1, (e -> 'from_span' ->> 1)::int - (e -> 'from_span' ->> 0)::int) AS here,
       substr(b.body, (e -> 'to_span' ->> 0)::int + 1, (e -> 'to_span' ->> 1)::int - (e -> 'to_span' ->> 0)::int) AS there
FROM rag_graph('How is Arzachel connected with Daevid Allen?', hops => 2, k => 1), jsonb_array_elements(edges) AS e
JOIN band AS b ON b.id::text = e ->> 'source_key';
SELECT entities FROM rag_graph('steve hillage', hops => 1) ORDER BY rank;
SELECT count(*) FROM rag_graph('nobody');
SELECT count(*) FROM rag_graph('Bread');
SELECT count(*) FROM rag_graph(repeat('Steve Hillage ', 100000));

-- Mentions change with their rows, in the same statement.
UPDATE band SET body = 'Steve Hillage left.' WHERE id = 2;
SELECT norm FROM band_rag_chunks_mentions AS m JOIN band_rag_chunks AS c USING (chunk_id) WHERE source_id = 2;
DELETE FROM band WHERE id = 2;
SELECT count(*) FROM rag_graph('Steve Hillage') WHERE entities @> '{Gong}';
BEGIN;
DELETE FROM band;
SELECT count(*) FROM band_rag_chunks_mentions;
ROLLBACK;
SELECT count(*) > 0 AS is_there FROM band_rag_chunks_mentions;
UPDATE band SET body = NULL WHERE id = 4;
SELECT count(*) FROM band_rag_chunks_mentions WHERE norm = 'who';
INSERT INTO band VALUES (2, 'Later Steve Hillage joined the band Gong, whose founder was Daevid Allen.');

-- Who does not see a row does not come over it, nor to it.
ALTER TABLE band ENABLE ROW LEVEL SECURITY;
CREATE POLICY seen ON band USING (lang = current_setting('graph.lang'));
GRANT SELECT ON band, band_rag, band_rag_chunks TO regress_reader;
UPDATE band SET lang = 'fr' WHERE id = 2;
SET graph.lang = 'en';
SET ROLE regress_reader;
SELECT count(via) FROM rag_retrieve('Where were the rehearsals of Arzachel held?', k => 6);
SELECT fails($$SELECT * FROM rag_retrieve('tea', options => '{"retrieve": {"graph": {}}}')$$);
SELECT fails($$SELECT * FROM rag_graph('Arzachel')$$);
RESET ROLE;
GRANT SELECT ON band_rag_chunks_mentions TO regress_reader;
SET ROLE regress_reader;
SELECT count(*) FROM band_rag_chunks_mentions WHERE norm = 'gong';
SELECT entities FROM rag_graph('Steve Hillage', hops => 4) ORDER BY rank;
SELECT count(*) FROM rag_retrieve('Where were the rehearsals of Arzachel held?', k => 6) WHERE 'Steve Hillage' = ANY (via);
SET graph.lang = 'fr';
SELECT entities FROM rag_graph('Steve Hillage', hops => 1) ORDER BY rank;
RESET ROLE;
ALTER TABLE band DISABLE ROW LEVEL SECURITY;

-- What cannot be.
SELECT fails($$SELECT * FROM rag_graph(NULL)$$);
SELECT fails($$SELECT * FROM rag_graph(' ')$$);
SELECT fails($$SELECT * FROM rag_graph('Gong', hops => 5)$$);
SELECT fails($$SELECT * FROM rag_graph('Gong', k => 0)$$);
SELECT fails($$SELECT * FROM rag_graph('Gong', 'nowhere')$$);
SELECT fails($$SELECT * FROM rag_graph('Gong', '*')$$);
SELECT fails($$SELECT * FROM rag_retrieve('tea', options => '{"retrieve": {"graph": "on"}}')$$);
SELECT fails($$SELECT * FROM rag_retrieve('tea', options => '{"retrieve": {"graph": 1}}')$$);
SELECT fails($$SELECT * FROM rag_retrieve('tea', options => '{"retrieve": {"graph": {"weight": 20}}}')$$);
SELECT fails($$SELECT * FROM rag_retrieve('tea', options => '{"retrieve": {"graph": {"hops": 2}}}')$$);
SELECT fails($$SELECT rag_alter_pipeline('band', options => '{"graph": true}')$$);
SELECT fails($$SELECT rag_alter_pipeline('band', options => '{"graph": {}}')$$);
SELECT fails($$SELECT rag_alter_pipeline('band', options => '{"graph": {"entities": "llm"}}')$$);
SELECT fails($$SELECT rag_alter_pipeline('band', options => '{"graph": {"entities": "ner"}}')$$);
SELECT fails($$SELECT rag_alter_pipeline('band', options => '{"graph": {"entities": "rules", "ner_model": "names"}}')$$);
SELECT fails($$SELECT rag_alter_pipeline('band', options => '{"graph": {"entities": "ner", "ner_model": "nobody"}}')$$);
SELECT fails($$SELECT rag_alter_pipeline('band', options => '{"graph": {"entities": "ner", "ner_model": "all-minilm-l6-v2"}}')$$);

-- Off and on again: the mentions are those of before, and nothing is embedded.
CREATE TABLE before AS SELECT * FROM band_rag_chunks_mentions;
SELECT rag_alter_pipeline('band', options => '{"graph": false}');
SELECT to_regclass('band_rag_chunks_mentions'), count(*) FROM rag.derivation;
SELECT fails($$SELECT * FROM rag_graph('Gong')$$);
SELECT fails($$SELECT * FROM rag_retrieve('tea', options => '{"retrieve": {"graph": {"weight": 0.3}}}')$$);
SELECT count(via) FROM rag_retrieve('Where were the rehearsals of Arzachel held?', k => 6);
SELECT rag_alter_pipeline('band', refresh => 'manual', options => '{"graph": {"entities": "rules"}}');
CALL rag_run('band');
SELECT count(*) AS others FROM (TABLE before EXCEPT TABLE band_rag_chunks_mentions) AS b;
SELECT count(*) AS more FROM (TABLE band_rag_chunks_mentions EXCEPT TABLE before) AS m;

-- A new generation has mentions of its own, with titles if there are any.
SELECT rag_alter_pipeline('band', options => '{"contextual": true, "title": "''Article '' || id"}');
CALL rag_run('band');
SELECT relation FROM rag.derivation;
SELECT norm, mentions, start_char FROM band_rag_chunks_mentions WHERE norm LIKE 'article%' ORDER BY norm;
TRUNCATE band;
CALL rag_run('band');
SELECT count(*) FROM band_rag_chunks_mentions;
SELECT rag_drop_pipeline('band');
SELECT count(*) FROM pg_class WHERE relname LIKE 'band_rag%';

-- What connects two is found, however many paths lead nowhere, and also where a question names it in small letters or side by side.
CREATE TABLE note (id integer PRIMARY KEY, body text);
INSERT INTO note VALUES
    (1, 'Marta Lindqvist leads Project Falcon at Helix Dynamics. The budget of Project Falcon is 4 million euros. She reports to Tomas Vega.'),
    (2, 'Tomas Vega founded Helix Dynamics in 2009 in Gothenburg. Before that, Tomas Vega worked at Borealis Foods for six years.'),
    (3, 'Ingrid Solberg is the chief executive of Borealis Foods. Borealis Foods sells frozen fish in Norway and Denmark.'),
    (5, 'Project Heron was a joint venture of Borealis Foods and Helix Dynamics. Ingrid Solberg closed Project Heron in 2022.'),
    (8, 'Project Falcon uses lasers to measure ice. Its first flight was over Greenland in March 2023, with Marta Lindqvist on board.');
SELECT rag_create_pipeline('note', 'body', refresh => 'sync', options => '{"graph": {"entities": "rules"}}');
SELECT hops, EXISTS (SELECT FROM rag_graph('How is Project Heron connected with Greenland?', hops => hops, k => 1000)
                     WHERE entities @> '{Project Heron,Greenland}') AS is_found
FROM generate_series(2, 4) AS hops;
SELECT ARRAY(SELECT unnest(ARRAY[entities[1], entities[cardinality(entities)]]) ORDER BY 1) AS ends, cardinality(entities), jsonb_array_length(edges)
FROM rag_graph('How is Project Heron connected with Greenland?', hops => 3, k => 1);
SELECT question, EXISTS (SELECT FROM rag_graph(question) WHERE entities @> '{Ingrid Solberg,Tomas Vega}') AS is_found
FROM (VALUES ('how is ingrid solberg connected with tomas vega?'), ('Compare Ingrid Solberg Tomas Vega'), ('What is known of it?')) AS q (question);

-- Who does not see a row is shown no path over it, from neither side.
ALTER TABLE note ENABLE ROW LEVEL SECURITY;
CREATE POLICY seen ON note USING (id <> 1);
GRANT SELECT ON note, note_rag, note_rag_chunks, note_rag_chunks_mentions TO regress_reader;
SET ROLE regress_reader;
SELECT count(*) FILTER (WHERE e ->> 'source_key' = '1' OR entities @> '{Project Heron,Greenland}') AS hidden, count(*) > 0 AS has_others
FROM rag_graph('How is Project Heron connected with Greenland?', hops => 4, k => 1000), jsonb_array_elements(edges) AS e;
RESET ROLE;
SELECT rag_drop_pipeline('note');
