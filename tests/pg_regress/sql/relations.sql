-- Relations that columns of rows say, and paths over them.
CREATE TABLE engineer (id integer PRIMARY KEY, nick text, name text, "full name" text);
INSERT INTO engineer VALUES (1, 'ab', 'Ada Berg', 'Ada M. Berg'), (2, 'bc', 'Ben Cole', 'Ben Cole'), (3, 'cd', NULL, 'Cleo Diaz');
CREATE TABLE project (code varchar(8) PRIMARY KEY, title text);
INSERT INTO project VALUES ('ap', 'Apollo'), ('ge', 'Gemini');
CREATE TABLE report (
    id          integer PRIMARY KEY,
    body        text,
    engineer_id integer REFERENCES engineer,
    project     varchar(8) REFERENCES project,
    libraries   text[],
    lang        text DEFAULT 'en'
);
INSERT INTO report VALUES
    (1, 'The parser of Apollo was written anew with Zstandard.', 1, 'ap', '{Zstandard,Serde}'),
    (2, 'The dashboard shows errors by the hour.', 2, 'ap', '{}'),
    (3, 'The importer reads old archives.', 3, 'ge', '{Serde,NULL,"?!"}'),
    (4, 'Nobody says who wrote this.', NULL, NULL, NULL),
    (5, NULL, 1, 'ge', '{Rayon}');
GRANT SELECT ON report TO regress_reader;
SELECT rag_create_pipeline('report', 'body', metadata => ARRAY['engineer_id', 'project', 'libraries', 'lang'], refresh => 'sync',
    options => '{"graph": {"entities": "rules", "names": {"engineer_id": "name", "project": "title"}, "relations": {
        "engineer_id": "written_by",
        "project": {"predicate": "worked_on", "subject": "engineer_id"},
        "libraries": {"predicate": "uses", "subject": "project"}}}}');
SELECT kind, options, relation FROM rag.derivation ORDER BY kind;
SELECT count(*) FROM rag.derivation_status;
SELECT c.source_id, r.subject_name, r.predicate, r.object_name FROM report_rag_chunks_relations AS r JOIN report_rag_chunks AS c USING (chunk_id)
ORDER BY c.source_id, r.predicate, r.subject, r.object;
SELECT obj_description('report_rag_chunks_relations'::regclass) IS NOT NULL AS has_comment,
       count(*) FILTER (WHERE col_description(attrelid, attnum) IS NULL) AS without
FROM pg_attribute WHERE attrelid = 'report_rag_chunks_relations'::regclass AND attnum > 0;

-- Which engineers worked on the project that uses a library?
SELECT entities[3] AS engineer, edges -> 1 ->> 'source_key' AS report
FROM rag_graph('Which engineers worked on the project that uses the library Zstandard?', hops => 2, predicate => ARRAY['uses', 'worked_on'])
WHERE edges -> 1 ->> 'predicate' = 'worked_on' ORDER BY rank;
-- However it is written.
SELECT rank, round(score::numeric, 3) AS score, entities
FROM rag_graph('which project uses zstandard', hops => 1, predicate => ARRAY['uses']) ORDER BY rank;
-- An edge says by which column and row, and where the text names both.
SELECT e - 'chunk_id' AS edge FROM rag_graph('Zstandard', hops => 1, predicate => '{uses}'), jsonb_array_elements(edges) AS e;
SELECT entities, (SELECT array_agg(e ->> 'predicate') FROM jsonb_array_elements(edges) AS e) AS predicates
FROM rag_graph('How is Ada Berg connected with Gemini?', hops => 4, k => 2, predicate => '{*}') ORDER BY rank;
SELECT count(*) FROM rag_graph('Zstandard', predicate => '{knows}');
SELECT count(*) FROM rag_graph('nobody', predicate => '{*}');
SELECT count(*) FROM rag_graph(repeat('Apollo ', 100000), predicate => '{*}') WHERE cardinality(entities) > 3;

-- They change with the row, in the same statement, and go with it.
UPDATE report SET engineer_id = 2 WHERE id = 1;
SELECT subject_name, predicate, object_name FROM report_rag_chunks_relations AS r JOIN report_rag_chunks AS c USING (chunk_id)
WHERE c.source_id = 1 AND predicate <> 'uses' ORDER BY predicate;
UPDATE report SET body = 'Another text.', libraries = '{Serde}' WHERE id = 1;
SELECT predicate, object_name FROM report_rag_chunks_relations AS r JOIN report_rag_chunks AS c USING (chunk_id)
WHERE c.source_id = 1 ORDER BY predicate;
BEGIN;
DELETE FROM report WHERE id < 3;
SELECT count(*) FROM report_rag_chunks_relations;
ROLLBACK;
UPDATE report SET body = NULL WHERE id = 2;
SELECT count(*) FROM report_rag_chunks_relations AS r JOIN report_rag_chunks AS c USING (chunk_id) WHERE c.source_id = 2;
UPDATE report SET body = 'The dashboard shows errors.' WHERE id = 2;

-- The name of a row to which a column refers is read with the row that refers to it.
SELECT rag_alter_pipeline('report', refresh => 'manual');
UPDATE engineer SET name = 'Ben Cole-Diaz' WHERE id = 2;
SELECT DISTINCT object_name FROM report_rag_chunks_relations WHERE predicate = 'written_by' ORDER BY 1;
UPDATE report SET lang = 'fr' WHERE id = 2;
CALL rag_run('report');
SELECT DISTINCT object_name FROM report_rag_chunks_relations WHERE predicate = 'written_by' ORDER BY 1;
-- The option that holds already has all rows read again; no text is embedded.
SELECT sum(chunks_embedded) AS before FROM rag.activity \gset
SELECT rag_alter_pipeline('report', options => jsonb_build_object('graph', options)) FROM rag.derivation WHERE kind = 'mentions';
CALL rag_run('report');
SELECT DISTINCT object_name FROM report_rag_chunks_relations WHERE predicate = 'written_by' ORDER BY 1;
SELECT sum(chunks_embedded) = :before AS is_same FROM rag.activity;

-- Who does not see a row does not see what it says, nor goes over it.
ALTER TABLE report ENABLE ROW LEVEL SECURITY;
CREATE POLICY seen ON report USING (lang = 'en');
SET ROLE regress_reader;
SELECT count(*) FROM report_rag_chunks_relations WHERE object = 'ben cole diaz';
SELECT entities FROM rag_graph('Gemini', hops => 4, predicate => '{*}', k => 100) WHERE entities @> '{Apollo}' ORDER BY rank LIMIT 1;
RESET ROLE;
REVOKE SELECT ON report_rag_chunks_relations FROM regress_reader;
SET ROLE regress_reader;
SELECT fails($$SELECT * FROM rag_graph('Gemini', predicate => '{*}')$$);
SELECT count(*) > 0 AS is_there FROM rag_graph('Apollo');
RESET ROLE;
DROP POLICY seen ON report;
ALTER TABLE report DISABLE ROW LEVEL SECURITY;

-- Other names, the row itself as a subject, and what is renamed or gone.
SELECT rag_alter_pipeline('report', options => '{"graph": {"entities": "rules", "names": {"engineer_id": "full name"},
    "relations": {"engineer_id": "written_by", "project": "about"}}}');
CALL rag_run('report');
SELECT subject_name, predicate, object_name FROM report_rag_chunks_relations ORDER BY 1, 2, 3;
ALTER TABLE report RENAME COLUMN engineer_id TO author;
ALTER TABLE engineer RENAME COLUMN "full name" TO whole;
UPDATE report SET author = 3 WHERE id = 2;
CALL rag_run('report');
SELECT subject_name, object_name FROM report_rag_chunks_relations WHERE subject = 'report 2' ORDER BY 2;
SET client_min_messages = warning;
ALTER TABLE report DROP COLUMN project;
RESET client_min_messages;
CALL rag_run('report');
SELECT DISTINCT predicate FROM report_rag_chunks_relations;
-- A new generation has relations of its own, and rows that have a title are called by it.
SELECT rag_alter_pipeline('report', options => '{"contextual": true, "title": "''Report of '' || id"}');
CALL rag_run('report');
SELECT subject_name, object_name FROM report_rag_chunks_relations ORDER BY 1, 2;
SELECT options -> 'relations' ? 'author' AS has_new_name, options -> 'relations' ? 'engineer_id' AS has_old_name FROM rag.derivation WHERE kind = 'mentions';

-- What cannot be.
SELECT fails($$SELECT * FROM rag_graph('Apollo', predicate => '{}')$$);
SELECT fails($$SELECT * FROM rag_graph('Apollo', predicate => ARRAY['uses', NULL])$$);
SELECT fails($$SELECT rag_alter_pipeline('report', options => '{"graph": {"entities": "rules", "relations": {"body": "says"}}}')$$);
SELECT fails($$SELECT rag_alter_pipeline('report', options => '{"graph": {"entities": "rules", "relations": {"lang": {"predicate": "in", "subject": "nowhere"}}}}')$$);
SELECT fails($$SELECT rag_alter_pipeline('report', options => '{"graph": {"entities": "rules", "relations": {"lang": {"predicate": "in", "subject": "libraries"}}}}')$$);
SELECT fails($$SELECT rag_alter_pipeline('report', options => '{"graph": {"entities": "rules", "relations": {"lang": "in"}, "names": {"lang": "name"}}}')$$);
SELECT fails($$SELECT rag_alter_pipeline('report', options => '{"graph": {"entities": "rules", "relations": {"engineer_id": "by"}, "names": {"engineer_id": "address"}}}')$$);
SELECT fails($$SELECT rag_alter_pipeline('report', options => '{"graph": {"entities": "rules", "relations": {"lang": ""}}}')$$);
SELECT fails($$SELECT rag_alter_pipeline('report', options => '{"graph": {"entities": "rules", "relations": {"lang": "*"}}}')$$);
SELECT fails($$SELECT rag_alter_pipeline('report', options => '{"graph": {"entities": "rules", "extract": {"predicates": ["uses", "Uses"]}}}')$$);
SELECT fails($$SELECT rag_alter_pipeline('report', options => '{"graph": {"entities": "rules", "relations": {"lang": {"object": "in"}}}}')$$);
SELECT fails($$SELECT rag_alter_pipeline('report', options => '{"graph": {"entities": "rules", "relations": ["lang"]}}')$$);

-- Whoever sees a row does not learn what the rows are called to which it refers, unless names says so; rows of two tables with
-- one key are two, a table that inherits has its keys again, and what is too long for a name says nothing.
CREATE TABLE firm (id integer PRIMARY KEY, name text);
INSERT INTO firm VALUES (1, 'Secret Holding');
CREATE TABLE senior () INHERITS (engineer);
INSERT INTO senior VALUES (1, 'x', 'Another Ada', NULL);
CREATE TABLE letter (id integer PRIMARY KEY, body text, engineer_id integer REFERENCES engineer, firm_id integer REFERENCES firm, place text, tags text[]);
GRANT SELECT ON letter TO regress_reader;
INSERT INTO letter VALUES (1, 'It is settled.', 1, 1, repeat('x', 1000000), ARRAY[repeat('y', 1000000), 'paid']);
SELECT rag_create_pipeline('letter', 'body', metadata => ARRAY['engineer_id', 'firm_id', 'place', 'tags'], refresh => 'sync', options => '{"graph":
    {"entities": "rules", "relations": {"engineer_id": "from", "firm_id": "to", "place": "sent_from", "tags": "is"}}}');
SET ROLE regress_reader;
SELECT subject_name, predicate, object_name FROM letter_rag_chunks_relations ORDER BY 2;
RESET ROLE;
SELECT rag_alter_pipeline('letter', options => '{"graph": {"entities": "rules", "names": {"engineer_id": "name", "firm_id": "name"},
    "relations": {"engineer_id": "from", "firm_id": "to"}}}');
UPDATE letter SET tags = NULL;
SELECT subject_name, predicate, object_name FROM letter_rag_chunks_relations ORDER BY 2;
-- A column of names that is gone is said once, and the keys stay.
ALTER TABLE firm DROP COLUMN name;
UPDATE letter SET tags = '{paid}';
UPDATE letter SET tags = '{unpaid}';
SELECT subject_name, predicate, object_name FROM letter_rag_chunks_relations ORDER BY 2;
SELECT rag_drop_pipeline('letter');
DROP TABLE letter, senior;

-- Without relations the graph stays, and without a graph nothing does.
SELECT rag_alter_pipeline('report', options => '{"graph": {"entities": "rules"}}');
SELECT kind, relation FROM rag.derivation;
SELECT fails($$SELECT * FROM rag_graph('Apollo', predicate => '{*}')$$);
SELECT rag_alter_pipeline('report', options => '{"graph": {"entities": "rules", "relations": {"lang": "in"}}}');
SELECT rag_alter_pipeline('report', options => '{"graph": false}');
SELECT count(*) FROM rag.derivation;
SELECT rag_drop_pipeline('report');
SELECT count(*) FROM pg_class WHERE relname LIKE 'report_rag%';
