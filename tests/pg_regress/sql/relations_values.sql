-- Values and keys that differ in a sign are two, rows without a name are called by their keys, and options follow columns.
CREATE TABLE lang (id integer PRIMARY KEY, body text, uses text[], delta integer, price numeric(6, 2));
INSERT INTO lang VALUES
    (1, 'The first report.', '{C}', 5, 1.50),
    (2, 'The second report.', '{C++}', -5, -1.50),
    (3, 'The third report.', '{C#}', 5, 1.50),
    (4, 'The fourth report.', '{.NET,A+,A-}', -5, 1.50);
SELECT rag_create_pipeline('lang', 'body', metadata => ARRAY['uses', 'delta', 'price'], refresh => 'sync', options => '{"graph":
    {"entities": "rules", "relations": {"uses": "uses", "delta": "changes_by", "price": "costs"}}}');
SELECT predicate, object, object_name, count(*) FROM lang_rag_chunks_relations GROUP BY 1, 2, 3 ORDER BY 1, 2;
SELECT q.text, g.entities FROM unnest('{C,C++,C#,.NET,A+,A-,-5,-1.50}'::text[]) WITH ORDINALITY AS q (text, place),
    rag_graph(q.text, 'lang', hops => 1, predicate => '{*}') AS g ORDER BY q.place, g.rank;
SELECT entities FROM rag_graph('which report uses c++, and which one A-?', 'lang', hops => 1, predicate => '{uses}') ORDER BY rank;

-- A row that is referred to is called by its key where its name has no letter or digit, and two keys are two.
CREATE TABLE person (code text PRIMARY KEY, name text);
INSERT INTO person VALUES ('', 'Ada Berg'), ('ab', '???'), ('cd', '!!!'), ('ef', '---'), ('gh', '😀'), ('ij', ''), ('k l', NULL), ('k-l', NULL);
CREATE TABLE task (id integer PRIMARY KEY, body text, person text REFERENCES person);
INSERT INTO task SELECT row_number() OVER (ORDER BY code COLLATE "C"), 'It is done.', code FROM person;
SELECT rag_create_pipeline('task', 'body', metadata => ARRAY['person'], refresh => 'sync', options => '{"graph":
    {"entities": "rules", "relations": {"person": "done_by"}}}');
SELECT subject_name, object_name, object FROM task_rag_chunks_relations ORDER BY subject;
SELECT rag_alter_pipeline('task', options => '{"graph": {"entities": "rules", "names": {"person": "name"}, "relations": {"person": "done_by"}}}');
UPDATE task SET body = 'It is done now.';
SELECT subject_name, object_name FROM task_rag_chunks_relations ORDER BY subject;

-- The options that are kept have the names that columns have now, here and in the other table, and none that are gone: they can be set
-- again.
CREATE TABLE boss (id integer PRIMARY KEY, label text);
CREATE TABLE event (id integer PRIMARY KEY, body text, boss integer REFERENCES boss, color text, place text);
INSERT INTO boss VALUES (1, 'Ada Berg');
INSERT INTO event VALUES (1, 'It was an evening.', 1, 'red', 'Oslo');
SELECT rag_create_pipeline('event', 'body', metadata => ARRAY['boss', 'color', 'place'], refresh => 'manual', options => '{"graph":
    {"entities": "rules", "names": {"boss": "label"}, "relations": {"boss": "led_by", "color": "is",
     "place": {"predicate": "led_from", "subject": "boss"}}}}');
ALTER TABLE event DROP COLUMN color;
ALTER TABLE event RENAME COLUMN boss TO leader;
ALTER TABLE boss RENAME COLUMN label TO name;
SELECT options FROM rag.derivation WHERE relation = 'event_rag_chunks_mentions'::regclass;
SELECT rag_alter_pipeline('event', options => jsonb_build_object('graph', options))
FROM rag.derivation WHERE relation = 'event_rag_chunks_mentions'::regclass;
UPDATE boss SET name = 'Ada Lind';
CALL rag_run('event');
SELECT subject_name, predicate, object_name FROM event_rag_chunks_relations ORDER BY 2;

-- A name from before is understood, unless another column has it now.
SELECT rag_alter_pipeline('event', options => '{"graph": {"entities": "rules", "names": {"boss": "name"}, "relations": {"boss": "led_by"}}}');
SELECT options FROM rag.derivation WHERE relation = 'event_rag_chunks_mentions'::regclass;
ALTER TABLE event RENAME COLUMN place TO boss;
SELECT rag_alter_pipeline('event', options => '{"graph": {"entities": "rules", "relations": {"boss": "was_in", "leader": "led_by"}}}');
CALL rag_run('event');
SELECT subject_name, predicate, object_name FROM event_rag_chunks_relations ORDER BY 2;
