-- What an update of the extension must keep: a graph with communities, a tree, an evaluation set, feedback, a conversation,
-- and rows that wait for workers. `docs` is there, with a pipeline whose statements embed.

CREATE TABLE news (id integer PRIMARY KEY, body text);
SELECT rag_create_pipeline('news', 'body');

-- Two circles of people, of whom each is met with two others.
CREATE TABLE story (id integer PRIMARY KEY, body text);
INSERT INTO story
SELECT row_number() OVER (),
       format('It is told that %1$s %4$s walked with %2$s %4$s and spoke with %3$s %4$s.',
              given[n % 6 + 1], given[(n + 1) % 6 + 1], given[(n + 2) % 6 + 1], circle)
FROM unnest(ARRAY['Peeters', 'Hillage']) AS circle, generate_series(0, 5) AS n,
     (SELECT ARRAY['Anna', 'Bruno', 'Clara', 'Diego', 'Elena', 'Felix']) AS names (given);
SELECT rag_create_pipeline('story', 'body', refresh => 'manual',
                           options => '{"graph": {"entities": "rules"}, "communities": {}}');

CREATE TABLE report (id integer PRIMARY KEY, body text);
INSERT INTO report
SELECT d, string_agg(format(E'# Part %s\n\nThe report number %s says in part %s that mill %s grinds wheat. It says what bread costs in street %s, too.',
                            p, d, p, p * 7 % 5, p), E'\n\n' ORDER BY p)
FROM generate_series(1, 3) AS d, generate_series(1, 6) AS p GROUP BY d;
SELECT rag_create_pipeline('report', 'body', refresh => 'manual',
                           chunking => '{"by": "markdown", "max_tokens": 48, "overlap": 0}', options => '{"tree": {}}');

CREATE TABLE notes (id integer PRIMARY KEY, body text);
INSERT INTO notes VALUES (1, 'The canteen serves lunch from noon to two.');
SELECT rag_create_pipeline('notes', 'body', options => '{"backfill": "now"}');
SELECT rag_eval_load('lunch', '[{"question": "When is lunch served?", "relevant": ["1"]}]');
SELECT rag_eval_floors('lunch', '{"recall": 0.5}');
SELECT count(*) FROM rag_eval('notes', 'lunch', k => '{1}');
SET rag.trace = 'full';
SELECT rag_feedback(trace_id, 1, 'That is right.') FROM rag_answer_details('When is lunch served?', 'notes');
RESET rag.trace;
SELECT rag_answer('When is lunch served?', 'notes',
                  options => jsonb_build_object('answer', jsonb_build_object('conversation', rag_conversation('Lunch'))));
SELECT rag_pause('notes');
INSERT INTO notes SELECT n, 'Room ' || n || ' is on floor ' || n / 10 || '.' FROM generate_series(2, 201) AS n;
