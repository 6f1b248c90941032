-- rag.strategy, and the argument strategy of rag_answer where nobody has to be asked.
\set SHOW_CONTEXT never
\pset format unaligned
\pset tuples_only on
SET client_min_messages = warning;

CREATE TABLE docs (id integer PRIMARY KEY, body text);
INSERT INTO docs VALUES
    (1, 'The mill of Ghent grinds corn.'),
    (2, 'The mill of Bruges saws wood.'),
    (3, 'Visitors park their cars behind the mill.');
SELECT rag_create_pipeline('docs', 'body');
CREATE SERVER writer FOREIGN DATA WRAPPER rag_llm OPTIONS (api 'openai', base_url 'http://127.0.0.1:9/answer_strategies/v1', model 'm', max_retries '0');
CREATE USER MAPPING FOR PUBLIC SERVER writer;

-- The registry.
SELECT * FROM rag.strategy;

-- The built-in answerer has one way to answer.
SELECT strategy, usage->>'strategy', usage->>'llm', supported
FROM unnest(ARRAY['auto', 'compact', NULL]) AS s (strategy), rag_answer_details('What does the mill of Ghent do?', strategy => strategy);
SELECT name, fails(format('SELECT rag_answer(''x'', strategy => %L)', name)) FROM rag.strategy WHERE name NOT IN ('auto', 'compact');

-- The first prompt of each, without its mark; nobody is asked.
SELECT strategy, p.role, regexp_replace(p.content, '[0-9a-f]{16}', 'MARK', 'g') = regexp_replace(c.content, '[0-9a-f]{16}', 'MARK', 'g')
FROM unnest(ARRAY['auto', 'tree_summarize', 'simple_summarize']) AS s (strategy), rag_prompt('What does the mill of Ghent do?', strategy => strategy) AS p
JOIN rag_prompt('What does the mill of Ghent do?', strategy => 'compact') AS c USING (role);
SELECT s.name, role, regexp_replace(regexp_replace(content, '[0-9a-f]{16}', 'MARK', 'g'), 'Today is [0-9-]+', 'Today is DATE')
FROM (SELECT name FROM rag.strategy WHERE name NOT IN ('global', 'local', 'graph')) AS s, rag_prompt('What does the mill of Ghent do?', strategy => s.name, k => 2, llm => 'writer')
WHERE s.name NOT IN ('auto', 'tree_summarize', 'simple_summarize') AND role = 'user';
SELECT regexp_replace(content, '[0-9a-f]{16}', 'MARK', 'g') FROM rag_prompt('What does the mill of Ghent do?', strategy => 'ircot', llm => 'writer') WHERE role = 'system';
SELECT content FROM rag_prompt('Which mill is old? Which one is loud?', llm => 'writer') WHERE role = 'user';

-- A step asks in the newest words, which have to use what the step is about.
SELECT rag_template_set('map_rerank', E'Rate: {{ question }}\n{{ sources }}');
SELECT content ~ '^Rate: What' FROM rag_prompt('What does the mill of Ghent do?', strategy => 'map_rerank');
SELECT fails($$SELECT rag_template_set('map_rerank', 'Rate: {{ question }}')$$);
INSERT INTO rag.template (name, version, content) VALUES ('map_rerank', 2, 'Rate: {{ question }}');
SELECT fails($$SELECT * FROM rag_prompt('What does the mill of Ghent do?', strategy => 'map_rerank')$$);
INSERT INTO rag.template (name, version, content) VALUES ('next_thought', 1, '{{ question }} {{ sources }}');
SELECT fails($$SELECT * FROM rag_prompt('What does the mill of Ghent do?', strategy => 'ircot')$$);
SELECT fails($$SELECT rag_template_set('next_thought', E'[[system]]\n{{ notes }}')$$);
DELETE FROM rag.template WHERE version > 0;

-- What cannot be asked.
SELECT fails($$SELECT rag_answer('x', strategy => 'sideways')$$);
SELECT fails($$SELECT rag_answer('x', strategy => '')$$);
SELECT fails($$SELECT rag_answer('x', options => '{"answer": {"group_size": 3, "rounds": 2}}')$$);
SELECT fails($$SELECT rag_answer('x', strategy => 'compact', options => '{"answer": {"group_size": 3}}')$$);
SELECT fails($$SELECT rag_answer('x', strategy => 'compact', options => '{"answer": {"tools": ["nope"]}}')$$);
SELECT fails($$SELECT rag_answer('x', strategy => 'compact', options => '{"answer": {"sql": {"attempts": 2}}}')$$);
SELECT fails($$SELECT rag_answer('x', options => '{"answer": {"max_tokens": 0}}')$$);
SELECT fails($$SELECT rag_answer('x', options => '{"answer": {"max_sentences": 0}}')$$);
SELECT fails($$SELECT rag_generate('x', 'writer', options => '{"max_tokens": 0}')$$);
SELECT fails($$SELECT rag_answer('x', strategy => 'refine', options => '{"answer": {"group_size": 0}}')$$);
SELECT fails($$SELECT rag_answer('x', strategy => 'refine', options => '{"answer": {"group_size": "many"}}')$$);
SELECT fails($$SELECT rag_answer('x', strategy => 'corrective', options => '{"answer": {"min_grade": 11}}')$$);
SELECT fails($$SELECT rag_answer('x', strategy => 'simple_summarize', options => '{"answer": {"source_tokens": 3}}')$$);
SELECT fails($$SELECT rag_answer('x', options => '{"answer": {"budget": {"call": 3}}}')$$);
SELECT fails($$SELECT rag_answer('x', options => '{"answer": {"budget": 3}}')$$);
SELECT fails($$SELECT rag_answer('x', options => '{"answer": {"budget": {"calls": 0}}}')$$);
SELECT fails($$SELECT rag_answer('x', options => '{"answer": {"budget": {"calls": -1}}}')$$);
SELECT fails($$SELECT rag_answer('x', options => '{"answer": {"budget": {"seconds": 0}}}')$$);
SELECT fails($$SELECT rag_answer('x', llm => 'writer', options => '{"answer": {"budget": {"cost": 1}}}')$$);
SELECT fails($$SELECT rag_answer('x', options => '{"groups": 3}')$$);

-- Nothing found, nobody asked; somebody asked who is not there.
DELETE FROM docs;
CALL rag_run('docs');
SELECT strategy, answer, supported, context, usage->>'calls'
FROM unnest(ARRAY['auto', 'refine', 'tree_summarize', 'simple_summarize', 'map_rerank']) AS s (strategy), rag_answer_details('What does the mill do?', strategy => strategy, llm => 'writer');
SELECT fails($$SELECT rag_answer('What does the mill do?', strategy => 'refine', llm => 'nowhere')$$);
SELECT substr(said, 1, 5) FROM fails($$SELECT rag_answer('What does the mill do?', strategy => 'corrective', llm => 'writer')$$) AS said LIMIT 1;
