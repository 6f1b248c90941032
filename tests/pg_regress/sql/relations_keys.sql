-- Relations by foreign keys of several columns.
CREATE TABLE author (tenant_id integer, author_id integer, name text, PRIMARY KEY (tenant_id, author_id));
INSERT INTO author VALUES (1, 1, 'Ada Berg'), (1, 2, NULL), (2, 1, 'Ben Cole'), (3, 1, 'Cleo Diaz');
CREATE TABLE note (
    id        integer PRIMARY KEY,
    body      text,
    tenant    integer,
    author    integer,
    reviewer  integer,
    place     text,
    FOREIGN KEY (author, tenant) REFERENCES author (author_id, tenant_id),
    FOREIGN KEY (tenant, reviewer) REFERENCES author ON UPDATE CASCADE
);
INSERT INTO note VALUES
    (1, 'The parser was written anew.', 1, 1, 2, 'Oslo'),
    (2, 'The dashboard shows errors.', 2, 1, NULL, 'Rome'),
    (3, 'The importer reads archives.', 1, 2, 1, 'Oslo'),
    (4, 'Nobody says who wrote this.', NULL, 7, NULL, 'Rome');
GRANT SELECT ON note TO regress_reader;
SELECT rag_create_pipeline('note', 'body', metadata => ARRAY['tenant', 'author', 'reviewer', 'place'], refresh => 'sync', options => '{"graph":
    {"entities": "rules", "relations": {"tenant, author": "written_by", "tenant,reviewer": {"predicate": "reviewed", "subject": "author, tenant"}}}}');
-- Rows are called by their keys, in the order of the other table's, however the option and the foreign key write them; a part
-- that is NULL refers to no row.
SELECT subject_name, predicate, object_name FROM note_rag_chunks_relations ORDER BY 1, 2, 3;
SET ROLE regress_reader;
SELECT count(*) FROM note_rag_chunks_relations;
RESET ROLE;
SELECT rag_alter_pipeline('note', options => '{"graph": {"entities": "rules", "names": {"author, tenant": "name", "tenant, reviewer": "name"},
    "relations": {"tenant, author": "written_by", "place": {"predicate": "works_in", "subject": "tenant, author"}}}}');
UPDATE note SET body = body || ' Today.';
SELECT subject_name, predicate, object_name FROM note_rag_chunks_relations ORDER BY 1, 2, 3;
SELECT entities FROM rag_graph('Who wrote what in Oslo: Ada Berg?', hops => 1, predicate => '{works_in}') ORDER BY rank;

-- A change of one part is a change of the relation.
UPDATE note SET tenant = 3 WHERE id = 2;
SELECT object_name FROM note_rag_chunks_relations WHERE predicate = 'written_by' AND subject = 'note 2';
UPDATE note SET author = NULL WHERE id = 2;
SELECT count(*) FROM note_rag_chunks_relations WHERE subject = 'note 2';

-- Renamed columns are followed, here and there.
ALTER TABLE note RENAME COLUMN tenant TO tenant_id;
ALTER TABLE author RENAME COLUMN tenant_id TO firm_id;
UPDATE note SET author = 1 WHERE id = 2;
SELECT object_name FROM note_rag_chunks_relations WHERE predicate = 'written_by' AND subject = 'note 2';
SELECT rag_alter_pipeline('note', options => '{"contextual": true, "title": "''Note '' || id"}', refresh => 'manual');
CALL rag_run('note');
SELECT subject_name, predicate, object_name FROM note_rag_chunks_relations ORDER BY 1, 2, 3;
SELECT jsonb_pretty(options -> 'relations') AS relations, options -> 'names' AS names FROM rag.derivation WHERE kind = 'mentions';

-- A foreign key that is gone leads nowhere, and what it said goes as rows are read again.
ALTER TABLE note DROP CONSTRAINT note_author_tenant_fkey;
UPDATE note SET place = 'Bonn' WHERE id = 1;
CALL rag_run('note');
SELECT subject_name, predicate, object_name FROM note_rag_chunks_relations ORDER BY 1, 2, 3;

-- What cannot be.
SELECT fails($$SELECT rag_alter_pipeline('note', options => '{"graph": {"entities": "rules", "relations": {"tenant_id, author": "by"}}}')$$);
SELECT fails($$SELECT rag_alter_pipeline('note', options => '{"graph": {"entities": "rules", "relations": {"tenant_id, nothing": "by"}}}')$$);
SELECT fails($$SELECT rag_alter_pipeline('note', options => '{"graph": {"entities": "rules", "relations": {"tenant_id,": "by"}}}')$$);
SELECT fails($$SELECT rag_alter_pipeline('note', options => '{"graph": {"entities": "rules", "relations": {"tenant_id, reviewer": "by"}, "names": {"tenant_id, reviewer": "age"}}}')$$);
SELECT fails($$SELECT rag_alter_pipeline('note', options => '{"graph": {"entities": "rules", "relations": {"reviewer": "by"}, "names": {"reviewer": "name"}}}')$$);
SELECT fails($$SELECT rag_alter_pipeline('note', options => '{"graph": {"entities": "rules", "relations": {"reviewer, tenant_id, tenant_id": "by"}}}')$$);
ALTER TABLE note DROP CONSTRAINT note_tenant_reviewer_fkey;
SELECT fails($$SELECT rag_alter_pipeline('note', options => '{"graph": {"entities": "rules", "relations": {"tenant_id, reviewer": "by"}}}')$$);
SELECT rag_drop_pipeline('note');

-- What is kept is what a join finds, with keys of texts, NULL and letters that SQL quotes.
CREATE TABLE "The firm" ("a ""b""" text, "c'd" bigint, label text, UNIQUE ("c'd", "a ""b"""));
INSERT INTO "The firm" SELECT 'k' || a, c, CASE WHEN a % 4 > 0 THEN 'Firm ' || a || '-' || c END FROM generate_series(1, 9) AS a, generate_series(1, 9) AS c;
CREATE TABLE deal (id integer PRIMARY KEY, body text, "x ""y""" varchar(9), z integer, FOREIGN KEY ("x ""y""", z) REFERENCES "The firm" ("a ""b""", "c'd"));
INSERT INTO deal SELECT n, 'It is deal ' || n || '.', CASE WHEN n % 7 > 0 THEN 'k' || n % 9 + 1 END, CASE WHEN n % 11 > 0 THEN n % 8 + 1 END
FROM generate_series(1, 300) AS n;
SELECT rag_create_pipeline('deal', 'body', metadata => ARRAY['x "y"', 'z'], options => '{"backfill": "now", "graph": {"entities": "rules",
    "relations": {"z, x \"y\"": "made_with"}, "names": {"z, x \"y\"": "label"}}}', refresh => 'manual');
CREATE VIEW expected AS
SELECT d.id, coalesce(f.label, 'The firm ' || f."c'd" || ', ' || f."a ""b""") AS object_name
FROM deal AS d JOIN "The firm" AS f ON f."a ""b""" = d."x ""y""" AND f."c'd" = d.z;
CREATE VIEW kept AS SELECT c.source_id AS id, r.object_name FROM deal_rag_chunks_relations AS r JOIN deal_rag_chunks AS c USING (chunk_id);
SELECT count(*) AS kept, count(*) FILTER (WHERE object_name LIKE 'The firm%') AS by_key FROM kept;
(TABLE kept EXCEPT TABLE expected) UNION ALL (TABLE expected EXCEPT TABLE kept);
UPDATE deal SET z = z % 5 + 1, "x ""y""" = nullif("x ""y""", 'k3') WHERE id % 3 = 0;
DELETE FROM deal WHERE id % 10 = 0;
CALL rag_run('deal');
SELECT count(*) AS kept FROM kept;
(TABLE kept EXCEPT TABLE expected) UNION ALL (TABLE expected EXCEPT TABLE kept);

-- A part with a comma, a quotation mark or a space is quoted, and a digest follows unless each part is one word in small letters:
-- two keys are two entities, and a row is called as it is referred to.
CREATE TABLE site (town text, street text, body text, twin_town text, twin_street text, PRIMARY KEY (town, street),
    FOREIGN KEY (twin_town, twin_street) REFERENCES site);
INSERT INTO site VALUES ('a, b', 'c', 'It rained.', 'x', 'y'), ('a', 'b, c', 'It snowed.', 'x', 'y'), ('o''neil', 'd\e', 'It was warm.', 'a, b', 'c'),
    ('a b', 'c', 'It hailed.', 'x', 'y'), ('a', 'b c', 'It thawed.', 'x', 'y'), ('-1', 'c', 'It froze.', 'x', 'y'), ('1', 'c', 'It blew.', 'x', 'y'),
    ('東 京', '市', 'It poured.', 'x', 'y'), ('東', '京 市', 'It cleared.', 'x', 'y'), ('_', 'c', 'It dripped.', 'x', 'y'),
    ('550e8400-e29b-41d4-a716-446655440000', 'south_7', 'It shone.', 'x', 'y'), ('A', 'c', 'It grew.', 'x', 'y'),
    ('a', 'C', 'It fell.', 'x', 'y'), ('a', 'c', 'It stayed.', 'x', 'y'), ('x', 'y', 'It was cold.', NULL, NULL);
SELECT rag_create_pipeline('site', 'body', metadata => ARRAY['twin_town', 'twin_street'], refresh => 'sync', options => '{"graph":
    {"entities": "rules", "relations": {"twin_town, twin_street": "twin_of"}}}');
SELECT subject_name, object_name FROM site_rag_chunks_relations ORDER BY subject_name COLLATE "C";
SELECT count(DISTINCT subject) AS subjects, count(DISTINCT object) AS objects FROM site_rag_chunks_relations;
