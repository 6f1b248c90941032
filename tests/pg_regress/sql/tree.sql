-- Trees: summaries of neighbouring chunks and of documents.
CREATE TABLE handbook (id integer PRIMARY KEY, body text, lang text DEFAULT 'en');
INSERT INTO handbook
SELECT 1, string_agg(format(E'# Part %s\n\nEmployees of part %s have %s days of leave a year. Leave of part %s is asked for a month ahead.', n, n, n, n), E'\n\n' ORDER BY n)
FROM generate_series(1, 20) AS n;
INSERT INTO handbook VALUES (2, 'The canteen serves soup from noon.'), (3, NULL), (4, ' ');

-- What cannot be.
SELECT rag_create_pipeline('handbook', 'body', options => '{"tree": true}');
SELECT rag_create_pipeline('handbook', 'body', options => '{"tree": {"summary": "poem"}}');
SELECT rag_create_pipeline('handbook', 'body', options => '{"tree": {"levels": 3}}');
SELECT rag_create_pipeline('handbook', 'body', options => '{"tree": {"over": "chapter"}}');
SELECT rag_create_pipeline('handbook', 'body', refresh => 'sync', options => '{"tree": {}}');
SELECT rag_create_pipeline('handbook', 'body', options => '{"tree": {"llm": "writer"}}');
SELECT rag_create_pipeline('handbook', 'body', options => '{"tree": {"summary": "llm"}}');
SELECT rag_create_pipeline('handbook', 'body', options => '{"tree": {"summary": "llm", "llm": "tree_writer"}}');

SELECT rag_create_pipeline('handbook', 'body', metadata => ARRAY['lang'], refresh => 'manual',
                           chunking => '{"by": "markdown", "max_tokens": 40, "overlap": 0}', options => '{"tree": {}}');
CALL rag_run('handbook');
SELECT kind, options, relation FROM rag.derivation;
SELECT kind, llm, state, missing, empty FROM rag.derivation_status;
SELECT obj_description('handbook_rag_chunks_tree'::regclass) IS NOT NULL AS has_comment,
       count(*) FILTER (WHERE col_description(attrelid, attnum) IS NULL) AS without
FROM pg_attribute WHERE attrelid = 'handbook_rag_chunks_tree'::regclass AND attnum > 0;

-- How many calls a language model takes is said before any is made.
CREATE SERVER tree_writer FOREIGN DATA WRAPPER rag_llm OPTIONS (api 'openai', base_url 'http://127.0.0.1:1/v1', model 'm', max_retries '0');
BEGIN;
SELECT rag_alter_pipeline('handbook', options => '{"tree": {"summary": "llm", "llm": "tree_writer", "template": "none"}}');
ROLLBACK;
SET client_min_messages = notice;
BEGIN;
SELECT rag_alter_pipeline('handbook', options => '{"tree": {"summary": "llm", "llm": "tree_writer"}}');
SELECT options FROM rag.derivation;
SELECT kind, llm, state FROM rag.derivation_status;
ROLLBACK;
RESET client_min_messages;
DROP SERVER tree_writer;

-- The root of a document covers all its chunks, in order; each chunk is in one node of a level.
SELECT count(*) AS documents, count(*) FILTER (WHERE t.leaves = d.leaves) AS roots
FROM (SELECT array_agg(content_hash ORDER BY chunk_no) AS leaves FROM handbook_rag_chunks GROUP BY source_id) AS d
LEFT JOIN handbook_rag_chunks_tree AS t ON t.node_hash = sha256((SELECT string_agg(l, ''::bytea ORDER BY no) FROM unnest(d.leaves) WITH ORDINALITY AS u (l, no)));
SELECT level > 0 AS is_level, bool_and(covered = (SELECT count(*) FROM handbook_rag_chunks WHERE source_id = 1)) AS covers_all
FROM (SELECT level, sum(cardinality(leaves)) AS covered FROM handbook_rag_chunks_tree WHERE cardinality(leaves) > 1 GROUP BY level) AS s GROUP BY 1;
SELECT bool_and(cardinality(children) BETWEEN 2 AND 8) AS is_narrow, bool_and(embedding IS NOT NULL) AS is_embedded
FROM handbook_rag_chunks_tree WHERE cardinality(leaves) > 1;
SELECT count(*) AS of_one_chunk, count(embedding) AS embedded FROM handbook_rag_chunks_tree WHERE cardinality(leaves) = 1;

-- Each sentence stands where it says.
SELECT count(*) BETWEEN 1 AND 5 AS is_short, bool_and(substr(h.body, s.start_char + 1, s.end_char - s.start_char) = s.content) AS is_exact,
       bool_and(c.source_id = h.id AND c.chunk_no = s.chunk_no) AS is_of_chunk
FROM handbook AS h CROSS JOIN rag_summary(h.id::text, 'handbook') AS s JOIN handbook_rag_chunks AS c USING (chunk_id) WHERE h.id = 1;
SELECT no, content, chunk_no, start_char, end_char FROM rag_summary('2');
SELECT count(*) FROM rag_summary('3');
SELECT count(*) FROM rag_summary('99');
SELECT * FROM rag_summary(NULL);
SELECT * FROM rag_summary('one');
SELECT * FROM rag_summary('1', 'nothing');
SELECT * FROM rag_summary('1', '*');

-- Answers read summaries where the whole is asked for, or wanted in so many words.
CREATE FUNCTION summaries(question text, options jsonb) RETURNS bigint LANGUAGE sql
RETURN (SELECT count(*) FROM rag_answer_details(question, 'handbook', options => options) AS a, jsonb_array_elements(a.context) AS c WHERE c ? 'summary_id');
SELECT summaries('Summarise the rules on leave.', '{}') AS auto,
       summaries('Summarise the rules on leave.', '{"retrieve": {"tree": "off"}}') AS off,
       summaries('When is leave asked for?', '{}') AS fact,
       summaries('When is leave asked for?', '{"retrieve": {"tree": "on"}}') AS "on",
       summaries('Summarise the rules on leave.', '{"retrieve": {"mode": "lexical"}}') AS lexical;
SELECT summaries('Summarise the rules on leave.', '{"retrieve": {"tree_beam": 1}}') AS beam,
       summaries('Summarise the rules on leave.', '{"retrieve": {"tree_beam": 10000}}') AS unlimited;
SELECT summaries('Summarise the rules on leave.', '{"retrieve": {"tree_beam": 0}}');
SELECT summaries('Summarise the rules on leave.', '{"retrieve": {"tree_beam": 2, "filter": {"lang": "de"}}}') AS hidden_by_filter;
SELECT summaries('Summarise the rules on leave.', '{"retrieve": {"filter": {"lang": "de"}}}') AS hidden_by_filter;
SELECT summaries('Summarise the rules on leave.', '{"retrieve": {"tree": "perhaps"}}');
SELECT count(*) FROM rag_retrieve('Summarise the rules on leave.', 'handbook', options => '{"retrieve": {"tree": "on"}}');
SELECT bool_and(c -> 'leaves' -> 0 ? 'start_char') AS has_leaves
FROM rag_answer_details('Summarise the rules on leave.', 'handbook') AS a, jsonb_array_elements(a.context) AS c WHERE c ? 'summary_id';

-- Without a language model they quote the summary, whatever threshold there is for facts.
CREATE FUNCTION told(question text, pipeline text) RETURNS text LANGUAGE sql
RETURN (SELECT CASE WHEN supported AND confidence IS NULL THEN replace(regexp_replace(answer, ' \[\d+\]', '', 'g'), E'\n\n', ' | ')
                    WHEN supported THEN 'as a fact' ELSE 'refused' END
        FROM rag_answer_details(question, pipeline, options => '{"answer": {"min_confidence": 0.9}}'));
SELECT q AS question, told(q, 'handbook') = (SELECT string_agg(content, ' ' ORDER BY no) FROM rag_summary('1', 'handbook')) AS is_summary
FROM unnest(ARRAY['Summarise the handbook.', 'Give me an overview.', 'What are the main points?', 'What are the main themes of the handbook?', 'What is this all about?', 'TL;DR', 'Fasse das Handbuch zusammen.', 'Worum geht es insgesamt?', 'Gib mir einen Überblick.']) WITH ORDINALITY AS u (q, no) ORDER BY no;

-- A change makes one node of each level anew.
CREATE TABLE before AS SELECT node_hash, level FROM handbook_rag_chunks_tree;
UPDATE handbook SET body = replace(body, 'Employees of part 7 have 7 days', 'Employees of part 7 have 9 days') WHERE id = 1;
CALL rag_run('handbook');
SELECT bool_and(n = 1) AS is_one_a_level, count(*) = (SELECT max(level) FROM before) AS is_each_level
FROM (SELECT level, count(*) AS n FROM handbook_rag_chunks_tree WHERE node_hash NOT IN (SELECT node_hash FROM before) GROUP BY level) AS new;
SELECT count(*) = (SELECT count(*) FROM before) AS is_as_large FROM handbook_rag_chunks_tree;

-- What is gone leaves nothing.
DELETE FROM handbook WHERE id = 1;
SELECT count(*) FROM rag_summary('1');
SELECT summaries('Summarise the rules on leave.', '{}') AS before_the_worker;
CALL rag_run('handbook');
SELECT count(*) FROM handbook_rag_chunks_tree;

-- Which documents have changed is noted with their chunks, and nothing is left of it.
SELECT (SELECT count(*) FROM rag.tree_root) AS roots, (SELECT count(*) FROM rag.tree_change) AS changes, (SELECT count(*) FROM rag.tree_candidate) AS candidates;
INSERT INTO handbook VALUES (5, 'Lockers are opened with a card.');
BEGIN;
DELETE FROM handbook WHERE id = 5;
ROLLBACK;
CALL rag_run('handbook');
SELECT count(*) FROM rag.tree_root AS r JOIN handbook_rag_chunks_tree AS t ON t.node_hash = r.root AND t.is_root;
DELETE FROM handbook WHERE id = 5;
CALL rag_run('handbook');
SELECT count(*) FROM rag.tree_root;

-- Rights.
GRANT SELECT ON handbook, handbook_rag, handbook_rag_chunks TO regress_reader;
SET ROLE regress_reader;
SELECT * FROM rag_summary('2');
SELECT count(*) FROM rag_answer_details('Summarise the rules.', 'handbook');
SELECT count(*) FROM rag_answer_details('Summarise the rules.', 'handbook', options => '{"retrieve": {"tree": "on"}}');
RESET ROLE;
GRANT SELECT ON handbook_rag_chunks_tree TO regress_reader;
SET ROLE regress_reader;
SELECT content FROM rag_summary('2');
RESET ROLE;

-- Off and on again, and in a new generation.
SELECT rag_alter_pipeline('handbook', options => '{"tree": false}');
SELECT to_regclass('handbook_rag_chunks_tree'), count(*) FROM rag.derivation;
SELECT count(*) FROM rag.tree_root;
SELECT * FROM rag_summary('2');
BEGIN;
SELECT rag_alter_pipeline('handbook', options => '{"tree": {}}');
ROLLBACK;
SELECT to_regclass('handbook_rag_chunks_tree'), count(*) FROM rag.derivation;
SELECT rag_alter_pipeline('handbook', options => '{"tree": {}}');
CALL rag_run('handbook');
SELECT content FROM rag_summary('2');
SELECT rag_alter_pipeline('handbook', chunking => '{"max_tokens": 60}');
CALL rag_run('handbook');
SELECT content FROM rag_summary('2');

-- One tree over all documents, whatever the columns of the key; the key `over` alone changes nothing else.
CREATE TABLE notice (place text, no integer, body text, PRIMARY KEY (place, no));
INSERT INTO notice VALUES
    ('canteen', 1, 'The canteen serves soup from noon. Lunch is paid for by card.'),
    ('gate', 1, 'Bicycles stand behind the northern gate. Bicycles at the doors are taken away.'),
    ('canteen', 2, 'The canteen closes at three. Dishes are brought back to the canteen.'),
    ('gate', 2, 'Bicycles are lent at the northern gate. A lock comes with each bicycle.'),
    ('gate', 3, 'Bicycles are lent at the northern gate. A lock comes with each bicycle.'),
    ('hall', 1, NULL);
SELECT rag_create_pipeline('notice', 'body', refresh => 'manual', options => '{"tree": {"over": "corpus"}}');
CREATE FUNCTION read_of(question text) RETURNS text LANGUAGE sql
RETURN (SELECT string_agg(c ->> 'content', ' | ') FROM rag_answer_details(question, 'notice') AS a, jsonb_array_elements(a.context) AS c WHERE c ? 'summary_id');
CALL rag_run('notice');
SELECT documents, cardinality(leaves) AS leaves, cardinality(children) AS children, level, is_root, embedding IS NOT NULL AS is_embedded
FROM notice_rag_chunks_tree WHERE documents > 1;
-- Neighbours are alike.
SELECT string_agg(n.place, ' ' ORDER BY l.no) AS in_order
FROM notice_rag_chunks_tree AS t CROSS JOIN unnest(t.leaves) WITH ORDINALITY AS l (hash, no)
CROSS JOIN LATERAL (SELECT c.source_place AS place FROM notice_rag_chunks AS c WHERE c.content_hash = l.hash LIMIT 1) AS n
WHERE t.documents > 1;
SELECT count(*) AS documents, count(DISTINCT place) AS places FROM rag.tree_place;
SELECT read_of('Summarise the notices.') = content AS is_read FROM notice_rag_chunks_tree WHERE documents > 1;
SELECT told('What are the main themes?', 'notice') = content AS is_summary_of_all FROM notice_rag_chunks_tree WHERE documents > 1;
UPDATE notice SET body = 'The canteen serves soup from eleven. Lunch is paid for by card.' WHERE place = 'canteen' AND no = 1;
CALL rag_run('notice');
SELECT documents, content LIKE '%eleven%' OR content NOT LIKE '%noon%' AS follows FROM notice_rag_chunks_tree WHERE documents > 1;
DELETE FROM notice WHERE place = 'gate';
CALL rag_run('notice');
SELECT documents FROM notice_rag_chunks_tree WHERE documents > 1;
SELECT rag_alter_pipeline('notice', options => '{"tree": {}}');
CALL rag_run('notice');
SELECT (SELECT count(*) FROM notice_rag_chunks_tree WHERE documents > 1) AS over_several, (SELECT count(*) FROM rag.tree_place) AS places;
SELECT rag_alter_pipeline('notice', options => '{"tree": {"over": "corpus"}}');
CALL rag_run('notice');
SELECT documents FROM notice_rag_chunks_tree WHERE documents > 1;
SELECT rag_drop_pipeline('notice');
SELECT count(*) FROM rag.tree_place;
DROP FUNCTION read_of;
DROP TABLE notice;

-- A question for the whole is told of trees that are still being made, once, and only where it would read them.
CREATE TABLE memo (id integer PRIMARY KEY, body text);
INSERT INTO memo SELECT n, format('Memo %s says that the mill is closed on day %s. It says so to all millers.', n, n) FROM generate_series(1, 3) AS n;
SELECT rag_create_pipeline('memo', 'body', refresh => 'manual');
CALL rag_run('memo');
SELECT rag_alter_pipeline('memo', options => '{"tree": {}}');
SET client_min_messages = notice;
SELECT rag_wait('memo');
SELECT count(*) FROM rag_answer_details('Summarise the memos on the mill.', 'memo');
SELECT count(*) FROM rag_answer_details('When is the mill closed?', 'memo');
CALL rag_run('memo');
SELECT rag_wait('memo');
SELECT count(*) FROM rag_answer_details('Summarise the memos on the mill.', 'memo');
RESET client_min_messages;
SELECT rag_drop_pipeline('memo');
DROP TABLE memo;

-- A question for the whole means the row or the heading that it names, and code is no part of what is said.
CREATE TABLE guide (file text PRIMARY KEY, body text);
INSERT INTO guide VALUES
    ('staff.md', E'# Leave\n\nEmployees have thirty days of leave a year. Leave is asked for a month ahead. Days of leave that are not taken end in March.\n\n# Sickness\n\nEmployees who are ill tell their manager before nine. A doctor''s note is needed from the third day of sickness on.\n\n# Travel\n\nEmployees book travel with the travel office. The office pays for trains in second class. Receipts of a journey are handed in within a month.\n\n# Canteen\n\nThe canteen serves soup from noon. Employees pay for lunch by card.'),
    ('press.md', E'# The press\n\nThe press prints newspapers at night. It stands in the cellar of the mill.\n\n```sql\nCREATE TABLE press (id integer PRIMARY KEY, is_on boolean NOT NULL, paper text);\nINSERT INTO press VALUES (1, true, ''The press is always on.'');\nSELECT is_on, paper FROM press WHERE id = 1 ORDER BY id;\nUPDATE press SET is_on = false WHERE paper IS NULL;\n```\n\n## Ink\n\nInk is kept in barrels of twenty litres. A barrel lasts a week.');
SELECT rag_create_pipeline('guide', 'body', refresh => 'manual', chunking => '{"by": "markdown", "max_tokens": 40, "overlap": 0}',
                           options => '{"tree": {}, "graph": {"entities": "rules"}}');
CALL rag_run('guide');
SELECT content FROM rag_summary('press.md', 'guide') ORDER BY no;
SELECT count(*) FILTER (WHERE norm ~ '^(create|insert|select|update|primary|not|where|order|values|set|is)') AS of_code, count(*) FILTER (WHERE norm = 'march') AS of_prose
FROM guide_rag_chunks_mentions;
SELECT q AS question, told(q, 'guide') FROM unnest(ARRAY['Summarise staff.md', 'Summarise the page about the press.', 'Summarise the rules on leave.', 'Give me an overview of travel.', 'Fasse die Regeln zu Travel zusammen.', 'What are the main points on ink?', 'Summarise the rules on quantum physics.', 'Fasse die Regeln zur Quantenphysik zusammen.']) WITH ORDINALITY AS u (q, no) ORDER BY no;
SELECT answer ILIKE '%leave%' AND answer ILIKE '%travel%' AS is_of_both, supported FROM rag_answer_details('Compare leave and travel.', 'guide');
-- Each sentence that is quoted stands where its citation says.
SELECT count(*) AS sentences, bool_and(substr(g.body, (c ->> 'start_char')::int + 1, (c ->> 'end_char')::int - (c ->> 'start_char')::int) = c ->> 'quote') AS are_exact
FROM rag_answer_details('Summarise staff.md', 'guide') AS a, jsonb_array_elements(a.citations) AS c JOIN guide AS g ON g.file = c ->> 'source_key';
-- A question for a fact is answered as without summaries.
SELECT q AS question, with_tree.answer = without.answer AND with_tree.confidence = without.confidence AS is_same
FROM unnest(ARRAY['When is lunch?', 'What does the canteen serve?', 'Who do employees tell that they are ill?']) WITH ORDINALITY AS u (q, no),
     rag_answer_details(q, 'guide', options => '{"retrieve": {"tree": "on"}}') AS with_tree,
     rag_answer_details(q, 'guide', options => '{"retrieve": {"tree": "off"}}') AS without
ORDER BY no;
SELECT rag_drop_pipeline('guide');
DROP TABLE guide;

-- A key of several columns.
CREATE TABLE part (book text, no integer, body text, PRIMARY KEY (book, no));
INSERT INTO part VALUES ('a', 1, 'Bread is baked at night in the old mill.');
SELECT rag_create_pipeline('part', 'body', refresh => 'manual', options => '{"tree": {}}');
CALL rag_run('part');
SELECT content FROM rag_summary('{"no": 1, "book": "a"}', 'part');
SELECT content FROM rag_summary('{"book": "a", "no": "1"}', 'part');
SELECT count(*) FROM rag_summary('{"no": 2, "book": "a"}', 'part');
-- What stands for rows of one chunk is quoted, and the question is embedded once, whatever its vector is compared with.
SELECT told('What is this all about?', 'part') AS told,
       (SELECT count(*) FROM rag_explain('What is this all about?', 'part') WHERE stage = 'embed') AS embedded;
SELECT fails(format('SELECT * FROM rag_summary(%L, %L)', key, 'part')) FROM unnest(ARRAY['1', '{"no": 1}', '{"no": 1, "book": "a", "page": 3}', '{"no": 1, "book": null}', '{"no": "one", "book": "a"}']) WITH ORDINALITY AS k (key, n) ORDER BY n;
-- A question names such a row by all columns of its key, and its citations have the key as results show it.
INSERT INTO part VALUES ('otter', 1, 'Storms come from the west in March. Floods follow in the month of April.'),
                        ('otter', 2, 'Herring is caught at the new moon. Nets are mended in winter.'),
                        ('heron', 2, 'Debts of the millers are paid in autumn. Rye is paid in kind.');
CALL rag_run('part');
SELECT q AS question, told(q, 'part') AS told,
       (SELECT string_agg(DISTINCT c ->> 'source_key', ', ') FROM jsonb_array_elements(a.citations) AS c) AS cited,
       (SELECT string_agg(c ->> 'title', ', ') FROM jsonb_array_elements(a.context) AS c WHERE c ? 'summary_id') AS summaries
FROM unnest(ARRAY['Summarise otter 2.', 'Summarise part 1 of the otter.', 'Summarise heron number 2.']) WITH ORDINALITY AS u (q, no),
     rag_answer_details(q, 'part') AS a
ORDER BY no;
-- Of two rows that are compared, the text and the number of a key are of one.
INSERT INTO part VALUES ('heron', 1, 'Frost is late on the hills. Sheep are shorn in May.');
CALL rag_run('part');
SELECT string_agg(c ->> 'title', ', ' ORDER BY c ->> 'title') AS summaries
FROM rag_answer_details('Compare otter 1 with heron 2.', 'part') AS a, jsonb_array_elements(a.context) AS c
WHERE c ? 'summary_id';

-- A key that is one number is named behind what the table is called, with a word for numbers between or without.
CREATE TABLE ticket (id integer PRIMARY KEY, body text);
INSERT INTO ticket VALUES (1, 'The lift stands still on the third floor. A mechanic comes at noon.'),
                          (2, 'The heating is cold in the cellar. Oil is ordered for Monday.');
SELECT rag_create_pipeline('ticket', 'body', refresh => 'manual', options => '{"tree": {}}');
CALL rag_run('ticket');
SELECT q AS question, told(q, 'ticket') AS told,
       (SELECT string_agg(c ->> 'title', ', ') FROM rag_answer_details(q, 'ticket') AS a, jsonb_array_elements(a.context) AS c WHERE c ? 'summary_id') AS summaries
FROM unnest(ARRAY['Summarise ticket 2.', 'Summarise ticket no. 2.', 'Summarise ticket #2.', 'Fasse Ticket Nr. 2 zusammen.', 'Résumez le ticket n° 2.']) WITH ORDINALITY AS u (q, no) ORDER BY no;
SELECT rag_drop_pipeline('ticket');
DROP TABLE ticket;

-- A key of two texts is named where both of them are, with commas and quotation marks as they are written.
CREATE TABLE dinner (city text, menu text, body text, PRIMARY KEY (city, menu));
INSERT INTO dinner VALUES ('Berlin', 'spring menu', 'Asparagus is served with new potatoes. Rhubarb cake comes with cream.'),
                          ('Berlin', 'chef''s menu, autumn', 'Venison is roasted with chestnuts. Pears are poached in wine.'),
                          ('Hamburg', 'spring menu', 'Plaice is fried with bacon. Strawberries are dipped in chocolate.'),
                          ('Hamburg', 'large "blue" menu', 'Mussels are cooked in cider. Lobster is grilled over charcoal.');
SELECT rag_create_pipeline('dinner', 'body', refresh => 'manual', options => '{"tree": {}}');
CALL rag_run('dinner');
SELECT q AS question, told(q, 'dinner') AS told,
       (SELECT string_agg(DISTINCT c ->> 'source_key', ', ') FROM jsonb_array_elements(a.citations) AS c) AS cited,
       (SELECT string_agg(c ->> 'title', ', ') FROM jsonb_array_elements(a.context) AS c WHERE c ? 'summary_id') AS summaries
FROM unnest(ARRAY['Summarise the spring menu of Berlin.', 'Summarise the chef''s menu, autumn, of Berlin.', 'Summarise the large "blue" menu of Hamburg.']) WITH ORDINALITY AS u (q, no),
     rag_answer_details(q, 'dinner') AS a
ORDER BY no;
-- Of two rows that are compared, both texts are of one; and where one of them is of no row, none is named.
SELECT string_agg(c ->> 'title', ', ' ORDER BY c ->> 'title') AS summaries
FROM rag_answer_details('Compare the Berlin spring menu with the Hamburg large "blue" menu.', 'dinner') AS a, jsonb_array_elements(a.context) AS c
WHERE c ? 'summary_id';
SELECT count(*) AS summaries
FROM rag_answer_details('Summarise the spring menu of Bremen.', 'dinner') AS a, jsonb_array_elements(a.context) AS c
WHERE c ? 'summary_id';
SELECT rag_drop_pipeline('dinner');
DROP TABLE dinner;

-- A key is looked up as it is given, neither cut off nor rounded.
CREATE TABLE lot (code varchar(3) PRIMARY KEY, body text);
INSERT INTO lot VALUES ('abc', 'Barley is dried in the loft of the barn.');
CREATE TABLE rate (percent numeric(5, 2) PRIMARY KEY, body text);
INSERT INTO rate VALUES (1.25, 'Savings earn interest at the end of March.');
SELECT rag_create_pipeline('lot', 'body', refresh => 'manual', options => '{"tree": {}}');
SELECT rag_create_pipeline('rate', 'body', refresh => 'manual', options => '{"tree": {}}');
CALL rag_run('lot');
CALL rag_run('rate');
SELECT content FROM rag_summary('abc', 'lot');
SELECT content FROM rag_summary('1.250', 'rate');
SELECT (SELECT count(*) FROM rag_summary('abcdef', 'lot')) AS cut_off, (SELECT count(*) FROM rag_summary('1.251', 'rate')) AS rounded;
-- A composite key is compared as the types of its columns, whatever the settings were when it was shown.
CREATE TABLE shift (at timestamptz, n numeric, body text, PRIMARY KEY (at, n));
INSERT INTO shift VALUES ('2026-01-01 00:00+00', 1.50, 'The ferry leaves from the second pier in winter.');
SELECT rag_create_pipeline('shift', 'body', refresh => 'manual', options => '{"tree": {}}');
CALL rag_run('shift');
SET timezone = 'Asia/Tokyo';
SELECT content FROM rag_summary('{"at": "2026-01-01T00:00:00+00:00", "n": 1.5}', 'shift');
RESET timezone;
SELECT rag_drop_pipeline('shift');
DROP TABLE shift;
SELECT rag_drop_pipeline('lot'), rag_drop_pipeline('rate');
DROP TABLE lot, rate;

SELECT rag_drop_pipeline('part'), rag_drop_pipeline('handbook');
SELECT count(*) FROM pg_class WHERE relname LIKE '%\_tree';
DROP TABLE handbook, part, before;
DROP FUNCTION summaries, told;
