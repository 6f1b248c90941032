-- Who loses the source by a REVOKE loses what is made of it, whoever has given either; who never had the source keeps what it was
-- given of the chunks alone.
\set SHOW_CONTEXT never
\pset format unaligned
\pset tuples_only on
SET client_min_messages = warning;

CREATE TABLE ledger (id integer PRIMARY KEY, entry text);
INSERT INTO ledger VALUES (1, 'Rye was paid in May.');
SELECT rag_create_pipeline('ledger', 'entry', refresh => 'sync', options => '{"graph": {"entities": "rules"}}');
-- Who has given what of the pipeline's relations to whom.
CREATE VIEW readers AS
SELECT concat_ws(' ', c.relname, '(' || g.name || ')', 'to', g.grantee, 'by', g.grantor)
FROM pg_class AS c, LATERAL (
    SELECT r.name, CASE WHEN a.grantee = 0 THEN 'PUBLIC' ELSE a.grantee::regrole::text END AS grantee,
           CASE WHEN a.grantor = c.relowner THEN 'its owner' ELSE a.grantor::regrole::text END AS grantor
    FROM (SELECT NULL, c.relacl UNION ALL SELECT attname, attacl FROM pg_attribute WHERE attrelid = c.oid) AS r (name, acl),
         aclexplode(r.acl) AS a WHERE a.grantee <> c.relowner) AS g
WHERE c.relname LIKE 'ledger\_rag%'
ORDER BY c.relname, g.name NULLS FIRST, g.grantee COLLATE "C", g.grantor COLLATE "C";

-- This one is given the chunks and the column by which they are known, and not the source: on purpose.
GRANT SELECT (id) ON ledger TO regress_stranger;
GRANT SELECT ON ledger_rag_chunks TO regress_stranger;
-- A reader that may pass its rights on does so, and both are taken back at once.
GRANT SELECT ON ledger, ledger_rag, ledger_rag_chunks, ledger_rag_chunks_mentions TO regress_reader WITH GRANT OPTION;
SET ROLE regress_reader;
GRANT SELECT ON ledger, ledger_rag, ledger_rag_chunks, ledger_rag_chunks_mentions TO regress_writer;
RESET ROLE;
TABLE readers;
REVOKE SELECT ON ledger FROM regress_reader CASCADE;
TABLE readers;

-- The reader itself takes the source back from whom it has given it.
GRANT SELECT ON ledger, ledger_rag, ledger_rag_chunks TO regress_reader WITH GRANT OPTION;
SET ROLE regress_reader;
GRANT SELECT ON ledger, ledger_rag, ledger_rag_chunks TO regress_writer;
REVOKE SELECT ON ledger FROM regress_writer;
RESET ROLE;
TABLE readers;

-- The owner takes from the reader only the right to pass the source on, and has given the chunks to the other one itself.
SET ROLE regress_reader;
GRANT SELECT ON ledger, ledger_rag TO regress_writer;
GRANT SELECT (content) ON ledger_rag_chunks TO regress_writer;
RESET ROLE;
GRANT SELECT ON ledger_rag_chunks TO regress_writer;
TABLE readers;
REVOKE GRANT OPTION FOR SELECT ON ledger FROM regress_reader CASCADE;
TABLE readers;

-- What takes nothing from the writer leaves it what it has: here it has the source from two roles.
GRANT SELECT ON ledger TO regress_reader WITH GRANT OPTION;
GRANT SELECT ON ledger, ledger_rag, ledger_rag_chunks TO regress_writer;
SET ROLE regress_reader;
GRANT SELECT ON ledger TO regress_writer;
RESET ROLE;
REVOKE SELECT ON ledger FROM regress_reader CASCADE;
TABLE readers;

-- A role that has the source as a member of another one loses it with that.
GRANT regress_writer TO regress_reader;
GRANT SELECT ON ledger_rag, ledger_rag_chunks TO regress_reader;
REVOKE SELECT ON ledger FROM regress_writer;
TABLE readers;
REVOKE regress_writer FROM regress_reader;
-- A role that owns nothing of it takes nothing by naming the source.
GRANT SELECT ON ledger TO regress_reader;
SET ROLE regress_reader;
SET client_min_messages = error;
REVOKE SELECT ON ledger FROM regress_stranger;
SET client_min_messages = warning;
RESET ROLE;
REVOKE SELECT ON ledger FROM regress_reader;
TABLE readers;
-- All the while the stranger reads the chunks.
SET ROLE regress_stranger;
SELECT content FROM ledger_rag_chunks;
SELECT fails('SELECT entry FROM ledger');
RESET ROLE;
-- Until it could read all of the source for a while, as PUBLIC.
GRANT SELECT ON ledger TO PUBLIC;
GRANT SELECT ON ledger_rag, ledger_rag_chunks TO regress_reader;
REVOKE SELECT ON ALL TABLES IN SCHEMA public FROM PUBLIC;
TABLE readers;

-- Nobody but the role that has given it can take it back, and that one may not name the table any more.
CREATE SCHEMA house;
CREATE TABLE house.notes (id integer PRIMARY KEY, body text);
SELECT rag_create_pipeline('house.notes', 'body', refresh => 'sync');
GRANT USAGE ON SCHEMA house TO regress_reader;
GRANT SELECT ON house.notes, house.notes_rag_chunks TO regress_reader WITH GRANT OPTION;
SET ROLE regress_reader;
GRANT SELECT ON house.notes, house.notes_rag_chunks TO regress_writer;
RESET ROLE;
REVOKE USAGE ON SCHEMA house FROM regress_reader;
REVOKE GRANT OPTION FOR SELECT ON house.notes FROM regress_reader CASCADE;
SELECT has_table_privilege('regress_writer', 'house.notes', 'SELECT'), has_table_privilege('regress_writer', 'house.notes_rag_chunks', 'SELECT');
REVOKE SELECT ON house.notes_rag_chunks FROM regress_reader CASCADE;
SELECT has_table_privilege('regress_writer', 'house.notes_rag_chunks', 'SELECT');
