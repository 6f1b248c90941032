-- Communities of entities, and the strategies that read them.
CREATE TABLE story (id integer PRIMARY KEY, body text, lang text DEFAULT 'en');
INSERT INTO story (id, body) VALUES
    (1, 'The guitarist Steve Hillage joined Daevid Allen on a farm near Sens.'),
    (2, 'The singer Daevid Allen founded Planet Gong with Gilli Smyth.'),
    (3, 'A record of Planet Gong was made by Steve Hillage with Gilli Smyth.'),
    (4, 'The miller Jan Peeters grinds wheat for Maria Claes near Castle Mill.'),
    (5, 'The bread of Maria Claes is sold by Jan Peeters near Corn Market.'),
    (6, 'The scales near Corn Market hang above Castle Mill.'),
    (7, 'It rains here on most days.'),
    (8, NULL), (9, ' ');

-- What cannot be.
SELECT rag_create_pipeline('story', 'body', options => '{"communities": {}}');
SELECT rag_create_pipeline('story', 'body', options => '{"graph": {"entities": "rules"}, "communities": true}');
SELECT rag_create_pipeline('story', 'body', options => '{"graph": {"entities": "rules"}, "communities": {"levels": 3}}');
SELECT rag_create_pipeline('story', 'body', options => '{"graph": {"entities": "rules"}, "communities": {"min_size": 1}}');
SELECT rag_create_pipeline('story', 'body', options => '{"graph": {"entities": "rules"}, "communities": {"max_size": 2}}');
SELECT rag_create_pipeline('story', 'body', options => '{"graph": {"entities": "rules"}, "communities": {"resolution": 0}}');
SELECT rag_create_pipeline('story', 'body', options => '{"graph": {"entities": "rules"}, "communities": {"tolerance": -1}}');
SELECT rag_create_pipeline('story', 'body', refresh => 'sync', options => '{"graph": {"entities": "rules"}, "communities": {}}');

SELECT rag_create_pipeline('story', 'body', metadata => ARRAY['lang'], refresh => 'manual', options => '{"graph": {"entities": "rules"}}');
SELECT rag_answer('What is told?', 'story', strategy => 'global');
-- A statement does not wait for them: where it is to make the chunks, the hint says what else has to change.
BEGIN;
SELECT rag_alter_pipeline('story', refresh => 'sync');
SELECT rag_answer('What is told?', 'story', strategy => 'global');
ROLLBACK;
BEGIN;
SELECT rag_alter_pipeline('story', refresh => 'sync');
SELECT rag_alter_pipeline('story', refresh => 'async', options => '{"communities": {}}');
SELECT rag_alter_pipeline('story', refresh => 'sync', options => '{"communities": {}}');
ROLLBACK;
SELECT rag_alter_pipeline('story', options => '{"communities": {}}');
CALL rag_run('story');
SELECT kind, options, relation FROM rag.derivation ORDER BY kind;
SELECT kind, llm, state, missing, done, empty FROM rag.derivation_status;
SELECT obj_description('story_rag_chunks_communities'::regclass) IS NOT NULL AS has_comment,
       count(*) FILTER (WHERE col_description(attrelid, attnum) IS NULL) AS without
FROM pg_attribute WHERE attrelid = 'story_rag_chunks_communities'::regclass AND attnum > 0;

-- Entities that chunks name together are of one community.
CREATE VIEW community AS
SELECT level, community, parent, string_agg(norm, ', ' ORDER BY norm) AS members FROM story_rag_chunks_communities GROUP BY 1, 2, 3;
SELECT * FROM community ORDER BY 1, 2;

-- The strategy global.
CREATE FUNCTION cited(question text, strategy text, options jsonb DEFAULT '{}') RETURNS TABLE (paragraphs integer, rows_cited text, supported boolean)
BEGIN ATOMIC
    SELECT cardinality(regexp_split_to_array(a.answer, E'\n\n')),
           (SELECT string_agg(DISTINCT c ->> 'source_key', ' ' ORDER BY c ->> 'source_key') FROM jsonb_array_elements(a.citations) AS c),
           a.supported
    FROM rag_answer_details(question, 'story', strategy => strategy, options => options) AS a;
END;
SELECT * FROM cited('What do the stories tell of?', 'global');
SELECT * FROM cited('What do the stories tell of?', 'global', '{"answer": {"max_sentences": 2}}');
SELECT * FROM cited('What do the stories tell of?', 'global', '{"retrieve": {"filter": {"lang": "de"}}}');
SELECT usage ->> 'strategy' AS strategy, confidence, (SELECT bool_and(substr(s.body, (c ->> 'start_char')::int + 1, (c ->> 'end_char')::int - (c ->> 'start_char')::int) = c ->> 'quote')
        FROM jsonb_array_elements(a.citations) AS c JOIN story AS s ON s.id = (c ->> 'source_key')::int) AS is_exact
FROM rag_answer_details('What do the stories tell of?', 'story', strategy => 'global') AS a;
SELECT stage, detail, rows FROM rag_explain('What do the stories tell of?', 'story', strategy => 'global') WHERE stage = 'communities';
SELECT stage, detail, rows FROM rag_explain('What do the stories tell of?', 'story', strategy => 'global', options => '{"answer": {"communities": 1, "community_chunks": 2}}') WHERE stage = 'communities';
SELECT rag_answer('x', 'story', strategy => 'global', options => '{"answer": {"communities": 0}}');
SELECT rag_answer('x', 'story', strategy => 'global', options => '{"answer": {"community_chunks": 101}}');
SELECT rag_answer('x', 'story', strategy => 'global', options => '{"answer": {"community_level": -1}}');
SELECT rag_answer('x', 'story', strategy => 'compact', options => '{"answer": {"communities": 2}}');
SELECT rag_answer('', 'story', strategy => 'global');
SELECT rag_answer(NULL, 'story', strategy => 'global');

-- The strategy local.
SELECT usage ->> 'strategy' AS strategy, supported FROM rag_answer_details('Who founded Planet Gong?', 'story', strategy => 'local', k => 2);
SELECT count(*) >= 2 AS reads_more FROM rag_answer_details('Who founded Planet Gong?', 'story', strategy => 'local', k => 1) AS a, jsonb_array_elements(a.context);
SELECT rag_answer('x', 'story', strategy => 'local', options => '{"answer": {"communities": 2}}');

-- An entity more makes its community anew, and not the other.
INSERT INTO story (id, body) VALUES (10, 'The drummer Pip Pyle met Gilli Smyth.'), (11, 'The drummer Pip Pyle left Planet Gong.');
CALL rag_run('story');
SELECT * FROM community ORDER BY 1, 2;
-- What changes less than is tolerated changes nothing.
SELECT rag_alter_pipeline('story', options => '{"communities": {"tolerance": 0.9}}');
CALL rag_run('story');
SELECT * FROM community ORDER BY 1, 2;
DELETE FROM story WHERE id = 11;
CALL rag_run('story');
SELECT * FROM community ORDER BY 1, 2;
SELECT done FROM rag.derivation WHERE kind = 'communities';
-- One that has no parts stays whole, however small it is to be.
SELECT rag_alter_pipeline('story', options => '{"communities": {"min_size": 2, "max_size": 2}}');
CALL rag_run('story');
SELECT max(level) AS level, count(parent) AS parents FROM story_rag_chunks_communities;
SELECT bool_and(supported) FROM generate_series(0, 2) AS level, rag_answer_details('What do the stories tell of?', 'story', strategy => 'global', options => jsonb_build_object('answer', jsonb_build_object('community_level', level)));

-- What is gone leaves nothing.
DELETE FROM story WHERE id < 4 OR id > 9;
CALL rag_run('story');
SELECT DISTINCT norm FROM story_rag_chunks_communities ORDER BY 1;

-- Rights.
GRANT SELECT ON story, story_rag, story_rag_chunks TO regress_reader;
SET ROLE regress_reader;
SELECT rag_answer('What is told?', 'story', strategy => 'global');
RESET ROLE;
GRANT SELECT ON story_rag_chunks_communities, story_rag_chunks_mentions TO regress_reader;
SET ROLE regress_reader;
SELECT supported FROM rag_answer_details('What is told?', 'story', strategy => 'global');
RESET ROLE;
-- Of what a role does not see it sees no community either.
ALTER TABLE story ENABLE ROW LEVEL SECURITY;
CREATE POLICY few ON story USING (id = 4);
SET ROLE regress_reader;
SELECT norm FROM story_rag_chunks_communities WHERE level = 0 ORDER BY norm;
SELECT * FROM cited('What do the stories tell of?', 'global');
RESET ROLE;
ALTER TABLE story DISABLE ROW LEVEL SECURITY;

-- Off and on again, and in a new generation.
DROP VIEW community;
SELECT rag_alter_pipeline('story', options => '{"graph": false}');
BEGIN;
SELECT rag_alter_pipeline('story', options => '{"graph": false, "communities": false}');
SELECT count(*) FROM rag.derivation;
ROLLBACK;
SELECT rag_alter_pipeline('story', options => '{"communities": false}');
SELECT to_regclass('story_rag_chunks_communities'), count(*) FROM rag.derivation;
SELECT rag_alter_pipeline('story', options => '{"communities": {}}');
CALL rag_run('story');
SELECT count(*) FROM story_rag_chunks_communities;
SELECT rag_alter_pipeline('story', chunking => '{"max_tokens": 60}');
CALL rag_run('story');
SELECT kind, done FROM rag.derivation ORDER BY kind;
SELECT supported FROM rag_answer_details('What is told?', 'story', strategy => 'global');
SELECT rag_drop_pipeline('story');
SELECT count(*) FROM pg_class WHERE relname LIKE '%\_communities';
DROP TABLE story;
DROP FUNCTION cited;
