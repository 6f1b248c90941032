-- What a stranger gets to see, or has run: grants that were taken back, settings and names of whoever calls.
\set SHOW_CONTEXT never
\pset format unaligned
\pset tuples_only on
SET client_min_messages = warning;

-- Who may no longer read the source may no longer read what is made of it; who still may reads on.
CREATE TABLE staff (id integer PRIMARY KEY, name text, notes text);
INSERT INTO staff VALUES (1, 'Ann', 'Ann Baker plays the cello.'), (2, 'Bo', 'Bo Ekman earns 90000.');
GRANT SELECT ON staff TO regress_reader, regress_writer, PUBLIC;
SELECT rag_create_pipeline('staff', 'notes', metadata => ARRAY['name'], options => '{"graph": {"entities": "rules"}, "tree": {}}');
SELECT rag_wait('staff');
SET ROLE regress_reader;
SELECT count(*) FROM rag_retrieve('Who plays the cello?', 'staff');
RESET ROLE;
REVOKE SELECT ON staff FROM regress_reader, PUBLIC;
GRANT SELECT (id, name) ON staff TO regress_reader;
SET ROLE regress_reader;
SELECT fails($$SELECT * FROM rag_retrieve('Who plays the cello?', 'staff')$$);
SELECT fails($$SELECT content FROM staff_rag_chunks$$);
RESET ROLE;
SET ROLE regress_writer;
SELECT count(*) FROM rag_retrieve('Who plays the cello?', 'staff');
RESET ROLE;
SELECT c.relname, g.grantee FROM pg_class AS c, LATERAL (SELECT grantee::regrole::text FROM aclexplode(c.relacl) WHERE grantee <> c.relowner) AS g
WHERE c.relname LIKE 'staff%' ORDER BY 1, 2;
-- What is revoked by another's hand, or of other tables, takes nothing.
REVOKE INSERT ON staff FROM regress_writer;
REVOKE SELECT ON staff FROM regress_owner;
SELECT count(*) FROM pg_class WHERE relname LIKE 'staff%' AND has_table_privilege('regress_writer', oid, 'SELECT') AND relkind IN ('r', 'v');
-- Of a new generation, too.
SELECT rag_alter_pipeline('staff', chunking => '{"max_tokens": 100}');
SELECT rag_wait('staff');
SELECT count(*) FROM pg_class WHERE relname LIKE 'staff_rag%' AND has_table_privilege('regress_reader', oid, 'SELECT');
SELECT rag_drop_pipeline('staff');
DROP TABLE staff;

-- In a function with SECURITY DEFINER the setting rag.llm is that of whoever calls it: rows of the function's owner go to no
-- server of a stranger's.
CREATE SCHEMA vault AUTHORIZATION regress_owner;
SET ROLE regress_owner;
CREATE TABLE vault.kb (id integer PRIMARY KEY, body text);
INSERT INTO vault.kb VALUES (1, 'The key of the vault lies under the mat.');
SELECT rag_create_pipeline('vault.kb', 'body', 'vault');
CREATE FUNCTION vault.ask(question text) RETURNS text LANGUAGE sql SECURITY DEFINER SET search_path = pg_catalog, public, pg_temp
    AS $$ SELECT public.rag_answer(question, 'vault') $$;
GRANT USAGE ON SCHEMA vault TO regress_stranger;
RESET ROLE;
GRANT USAGE ON FOREIGN DATA WRAPPER rag_llm TO regress_stranger;
SET ROLE regress_stranger;
CREATE SERVER elsewhere FOREIGN DATA WRAPPER rag_llm OPTIONS (api 'openai', base_url 'http://127.0.0.1:9/v1', model 'm', timeout '1', max_retries '0');
GRANT USAGE ON FOREIGN SERVER elsewhere TO PUBLIC;
SELECT vault.ask('Where is the key of the vault?');
SET rag.llm = 'elsewhere';
\set VERBOSITY verbose
SELECT fails($$SELECT vault.ask('Where is the key of the vault?')$$);
\set VERBOSITY default
-- Nor in one of a superuser's, who has the rights of all roles.
RESET rag.llm;
RESET ROLE;
CREATE FUNCTION ask_as_superuser(question text) RETURNS text LANGUAGE sql SECURITY DEFINER SET search_path = pg_catalog, public, pg_temp
    AS $$ SELECT public.rag_answer(question, 'vault') $$;
CREATE FUNCTION create_as_superuser() RETURNS text LANGUAGE sql SECURITY DEFINER SET search_path = pg_catalog, public, pg_temp
    AS $$ SELECT public.rag_alter_pipeline('vault', options => '{"represent": {"summary": true}}') $$;
SET ROLE regress_stranger;
SET rag.llm = 'elsewhere';
SELECT fails($$SELECT ask_as_superuser('Where is the key of the vault?')$$);
SELECT fails($$SELECT create_as_superuser()$$);
-- The stranger's own calls, and servers that the function's owner trusts, are called; here nobody answers.
SELECT fails($$SELECT rag_generate('Hello')$$);
RESET ROLE;
ALTER SERVER elsewhere OWNER TO CURRENT_USER;
SET ROLE regress_stranger;
SELECT fails($$SELECT vault.ask('Where is the key of the vault?')$$);
RESET rag.llm;
RESET ROLE;
DROP SERVER elsewhere CASCADE;
DROP FUNCTION ask_as_superuser, create_as_superuser;
REVOKE USAGE ON FOREIGN DATA WRAPPER rag_llm FROM regress_stranger;

-- Types in a schema ahead of PostgreSQL's, as that of temporary objects, are not taken for those of pg_rag's tables.
CREATE TABLE later (id integer PRIMARY KEY, body text);
INSERT INTO later VALUES (1, 'A walk along the river.');
CREATE FUNCTION called(value pg_catalog.bytea) RETURNS boolean LANGUAGE plpgsql AS $$ BEGIN RAISE WARNING 'called'; RETURN true; END $$;
CREATE DOMAIN pg_temp.bytea AS pg_catalog.bytea CHECK (called(VALUE));
CREATE DOMAIN pg_temp.text AS pg_catalog.text CHECK (called(pg_catalog.convert_to(VALUE, 'UTF8')));
CREATE DOMAIN pg_temp.tsvector AS pg_catalog.tsvector;
SELECT rag_create_pipeline('later', 'body', options => '{"graph": {"entities": "rules"}, "tree": {}}');
SELECT count(*) FROM pg_attribute AS a JOIN pg_type AS t ON t.oid = a.atttypid
WHERE a.attrelid IN ('later_rag_chunks'::regclass, 'later_rag_chunks_mentions'::regclass, 'later_rag_chunks_tree'::regclass, 'later_rag'::regclass)
  AND t.typtype = 'd';
DROP DOMAIN pg_temp.bytea, pg_temp.text, pg_temp.tsvector;
DROP FUNCTION called;
SELECT rag_drop_pipeline('later');
DROP TABLE later;

-- Expressions of a stranger's that are metadata are computed with the stranger's rights, whoever has the rows embedded or alters
-- the table, and mean what they meant to the stranger, whatever operators others have in their search path.
CREATE SCHEMA stall AUTHORIZATION regress_stranger;
SET ROLE regress_stranger;
CREATE TABLE stall.ware (id integer PRIMARY KEY, body text, price integer);
INSERT INTO stall.ware VALUES (1, 'A red lamp.', 10);
CREATE FUNCTION stall.whose(price text) RETURNS text STABLE LANGUAGE plpgsql AS $$ BEGIN RETURN current_user || ' ' || price; END $$;
SELECT rag_create_pipeline('stall.ware', 'body', 'stall', metadata => ARRAY['stall.whose(price::text) AS whose', 'price < 20 AS cheap'], refresh => 'manual', options => '{"backfill": "now"}');
RESET ROLE;
SELECT whose, cheap FROM stall.stall_rag_chunks;
CREATE SCHEMA lair;
CREATE FUNCTION lair.never(integer, integer) RETURNS boolean IMMUTABLE LANGUAGE sql AS 'SELECT false';
CREATE OPERATOR lair.< (LEFTARG = integer, RIGHTARG = integer, FUNCTION = lair.never);
SET search_path = lair, pg_catalog, public;
SELECT 1 < 2;
SELECT rag_alter_pipeline('stall', chunking => '{"max_tokens": 100}');
UPDATE stall.ware SET price = 11;
CALL rag_run('stall');
RESET search_path;
SELECT whose, cheap FROM stall.stall_rag_chunks;
ALTER TABLE stall.ware ALTER COLUMN price TYPE bigint USING price + 5;
SELECT whose, cheap FROM stall.stall_rag_chunks;
SELECT rag_drop_pipeline('stall');
DROP SCHEMA stall, lair CASCADE;

-- What functions of users raise keeps its SQLSTATE, also one that PostgreSQL does not know, its context and its names.
CREATE FUNCTION strict(body text) RETURNS text IMMUTABLE LANGUAGE plpgsql AS $$
BEGIN
    IF body = 'bad' THEN RAISE EXCEPTION 'not this one' USING ERRCODE = 'UX001', CONSTRAINT = 'strictness', HINT = 'Another.'; END IF;
    RETURN body;
END $$;
CREATE TABLE text_of (id integer PRIMARY KEY, body text);
INSERT INTO text_of VALUES (1, 'bad');
CREATE FUNCTION raised(statement text) RETURNS text LANGUAGE plpgsql AS $$
DECLARE code text; message text; name text; hint text; context text;
BEGIN
    EXECUTE statement;
    RETURN 'done';
EXCEPTION WHEN OTHERS THEN
    GET STACKED DIAGNOSTICS code = RETURNED_SQLSTATE, message = MESSAGE_TEXT, name = CONSTRAINT_NAME, hint = PG_EXCEPTION_HINT, context = PG_EXCEPTION_CONTEXT;
    RETURN concat_ws(' | ', code, message, name, hint, context);
END $$;
SELECT raised($$SELECT rag_create_pipeline('text_of', 'strict(body)')$$);
UPDATE text_of SET body = 'A good text.';
SELECT rag_create_pipeline('text_of', 'strict(body)', refresh => 'sync');
SELECT raised($$INSERT INTO text_of VALUES (2, 'bad')$$);
DO $$ BEGIN INSERT INTO text_of VALUES (3, 'bad'); EXCEPTION WHEN SQLSTATE 'UX001' THEN RAISE WARNING 'handled'; END $$;
SELECT raised($$CREATE INDEX ON text_of USING rag_bm25 (to_tsvector('simple'::regconfig, strict(CASE WHEN id = 1 THEN 'bad' END)))$$);
CREATE TABLE near (id integer, e vector(2));
INSERT INTO near SELECT i, ARRAY[sin(i), cos(i)] FROM generate_series(1, 20) AS i;
CREATE FUNCTION kept(id integer) RETURNS boolean STABLE COST 1 LANGUAGE plpgsql AS $$
BEGIN
    IF id <> 21 THEN RAISE EXCEPTION 'no % ', id USING ERRCODE = 'P0007'; END IF;
    RETURN true;
END $$;
CREATE INDEX ON near USING rag_hnsw (e vector_l2_ops);
SET enable_seqscan = off;
SELECT regexp_replace(raised($$SELECT id FROM near WHERE kept(id) ORDER BY e <-> '[1,0]' LIMIT 2$$), 'no \d+', 'no n');
RESET enable_seqscan;
-- What is raised again has what it had at first, and not what another had meanwhile.
CREATE FUNCTION twice(body text) RETURNS text IMMUTABLE LANGUAGE plpgsql AS $$
BEGIN
    RAISE EXCEPTION 'one' USING ERRCODE = 'UX001';
EXCEPTION WHEN OTHERS THEN
    BEGIN RAISE EXCEPTION 'two' USING ERRCODE = 'UX002', CONSTRAINT = 'second'; EXCEPTION WHEN OTHERS THEN NULL; END;
    RAISE;
END $$;
SELECT split_part(raised($$SELECT rag_create_pipeline('text_of', 'twice(body)', 'second')$$), E'\n', 1);
-- Of a policy that fails while pg_rag searches, the context is told once, and no statement of pg_rag's.
SELECT rag_alter_pipeline('text_of', refresh => 'manual');
INSERT INTO text_of VALUES (5, 'A better text.');
CALL rag_run('text_of');
CREATE FUNCTION sees(body text) RETURNS boolean STABLE LANGUAGE plpgsql AS $$
BEGIN
    RAISE EXCEPTION 'not for you' USING ERRCODE = 'UX003';
END $$;
ALTER TABLE text_of ENABLE ROW LEVEL SECURITY;
CREATE POLICY seen ON text_of USING (sees(body));
GRANT SELECT ON text_of, text_of_rag, text_of_rag_chunks TO regress_reader;
SET ROLE regress_reader;
SELECT raised($$SELECT * FROM rag_retrieve('text', 'text_of')$$);
RESET ROLE;
-- An error of pg_rag's own has none of what one before it had.
SELECT raised($$SELECT rag_answer('x', 'nowhere')$$);
SELECT rag_drop_pipeline('text_of');
DROP TABLE text_of, near;
DROP FUNCTION strict, kept, raised, twice, sees;
