//! Statements that mean harm, and what becomes of each of them.

/// What a statement may lay hands on: functions, a view, an operator, a cast, a domain, an aggregate, a policy and
/// indexes that leave a mark in a table where they run, whatever they are marked.
pub const SETUP: &str = r#"
    CREATE TABLE marks (what text);
    CREATE SEQUENCE counter;
    CREATE TABLE items (id integer PRIMARY KEY, name text, price numeric, tags text[], made date);
    INSERT INTO items SELECT i, 'item ' || i, i * 1.5, ARRAY['a', i::text], date '2026-01-01' + i
        FROM generate_series(1, 100) AS i;
    ANALYZE items;
    CREATE SCHEMA secret;
    CREATE TABLE secret.salary (id integer, amount integer);
    INSERT INTO secret.salary VALUES (1, 100), (2, 200);

    CREATE FUNCTION leave_mark(what text) RETURNS integer LANGUAGE plpgsql VOLATILE AS $$
    BEGIN
        INSERT INTO marks VALUES (what);
        RETURN 1;
    END $$;
    CREATE FUNCTION unmarked(i integer) RETURNS integer LANGUAGE sql AS 'SELECT i + 1';
    CREATE FUNCTION lying_stable() RETURNS integer LANGUAGE plpgsql STABLE AS
        'BEGIN RETURN leave_mark(''stable''); END';
    CREATE FUNCTION lying_immutable(i integer) RETURNS integer LANGUAGE plpgsql IMMUTABLE AS
        'BEGIN RETURN leave_mark(''immutable''); END';
    CREATE FUNCTION lying_sql() RETURNS integer LANGUAGE sql STABLE AS 'SELECT leave_mark(''sql'')';
    CREATE FUNCTION lying_rows() RETURNS SETOF integer LANGUAGE sql STABLE AS 'SELECT leave_mark(''rows'')';
    CREATE FUNCTION lying_locks() RETURNS boolean LANGUAGE plpgsql STABLE AS
        'BEGIN PERFORM pg_advisory_lock(7); RETURN true; END';
    CREATE FUNCTION lying_again() RETURNS boolean LANGUAGE plpgsql STABLE AS $$
    BEGIN
        BEGIN
            PERFORM pg_advisory_lock(7);
        EXCEPTION WHEN OTHERS THEN NULL;
        END;
        PERFORM pg_advisory_lock(7);
        RETURN true;
    END $$;
    CREATE FUNCTION lying_sets() RETURNS text LANGUAGE plpgsql STABLE AS
        'BEGIN RETURN set_config(''work_mem'', ''1GB'', false); END';
    CREATE FUNCTION lying_writes() RETURNS integer LANGUAGE plpgsql STABLE AS
        'BEGIN INSERT INTO marks VALUES (''writes''); RETURN 1; END';
    CREATE FUNCTION lying_command() RETURNS integer LANGUAGE plpgsql STABLE AS
        'BEGIN CREATE TEMP TABLE kept (i int); RETURN 1; END';
    CREATE FUNCTION lying_copy() RETURNS integer LANGUAGE plpgsql STABLE AS
        'BEGIN COPY (SELECT 1) TO PROGRAM ''touch mark_of_copy''; RETURN 1; END';
    CREATE FUNCTION runs_text(statement text) RETURNS text LANGUAGE plpgsql STABLE AS
        'DECLARE found text; BEGIN EXECUTE statement INTO found; RETURN found; END';
    CREATE FUNCTION definer() RETURNS bigint LANGUAGE sql STABLE SECURITY DEFINER AS
        'SELECT count(*) FROM secret.salary';
    CREATE FUNCTION greedy() RETURNS integer LANGUAGE sql STABLE SET work_mem = '1GB' AS 'SELECT 1';
    CREATE FUNCTION untimed() RETURNS integer LANGUAGE sql STABLE SET statement_timeout = 0 AS 'SELECT 1';
    CREATE FUNCTION stubborn() RETURNS integer LANGUAGE plpgsql STABLE AS $$
    DECLARE n integer := 0;
    BEGIN
        BEGIN
            LOOP n := n + 1; END LOOP;
        EXCEPTION WHEN query_canceled THEN NULL;
        END;
        RETURN n;
    END $$;
    CREATE FUNCTION endless() RETURNS integer LANGUAGE plpgsql STABLE AS
        'BEGIN LOOP NULL; END LOOP; END';
    CREATE FUNCTION deep(i integer) RETURNS integer LANGUAGE sql STABLE AS 'SELECT 1';
    CREATE OR REPLACE FUNCTION deep(i integer) RETURNS integer LANGUAGE plpgsql STABLE AS
        'BEGIN RETURN deep(i + 1); END';
    CREATE FUNCTION stored(i integer) RETURNS integer LANGUAGE sql IMMUTABLE SECURITY DEFINER AS 'SELECT i';

    CREATE VIEW marking AS SELECT leave_mark('view') AS mark, id FROM items;
    CREATE VIEW behind AS SELECT id FROM marking;
    CREATE VIEW salaries AS SELECT * FROM secret.salary;
    CREATE VIEW locking AS SELECT id FROM items FOR UPDATE;
    CREATE VIEW catalogs AS SELECT rolname FROM pg_catalog.pg_roles;
    CREATE VIEW sampled AS SELECT random() AS at, id FROM items;

    CREATE FUNCTION adds(a integer, b integer) RETURNS integer LANGUAGE sql AS 'SELECT leave_mark(''operator'')';
    CREATE OPERATOR |+| (LEFTARG = integer, RIGHTARG = integer, FUNCTION = adds);
    CREATE FUNCTION alike(a integer, b text) RETURNS boolean LANGUAGE sql AS
        'SELECT leave_mark(''alike'') = 1';
    CREATE OPERATOR === (LEFTARG = integer, RIGHTARG = text, FUNCTION = alike);

    CREATE TYPE pair AS (a integer, b integer);
    CREATE FUNCTION to_pair(i integer) RETURNS pair LANGUAGE sql AS
        'SELECT ROW(leave_mark(''cast''), i)::pair';
    CREATE CAST (integer AS pair) WITH FUNCTION to_pair(integer);
    CREATE TYPE mood AS ENUM ('good', 'bad');
    CREATE FUNCTION mood_json(m mood) RETURNS json LANGUAGE sql AS
        'SELECT to_json(leave_mark(''json''))';
    CREATE CAST (mood AS json) WITH FUNCTION mood_json(mood);
    CREATE TABLE moods (id integer, m mood);
    INSERT INTO moods VALUES (1, 'good');

    CREATE DOMAIN checked AS integer CHECK (VALUE > 0 AND leave_mark('domain') = 1);
    CREATE DOMAIN doubly AS checked;
    CREATE TYPE holder AS (c checked, d text);
    CREATE FUNCTION takes_holder(h holder) RETURNS integer LANGUAGE sql IMMUTABLE AS 'SELECT 1';
    CREATE FUNCTION takes_many(h checked[]) RETURNS integer LANGUAGE sql IMMUTABLE AS 'SELECT 1';

    CREATE FUNCTION marking_step(a integer, b integer) RETURNS integer LANGUAGE sql AS
        'SELECT leave_mark(''aggregate'')';
    CREATE AGGREGATE marking_sum(integer) (SFUNC = marking_step, STYPE = integer, INITCOND = '0');
    CREATE FUNCTION marking_end(a integer) RETURNS integer LANGUAGE sql AS 'SELECT leave_mark(''final'')';
    CREATE AGGREGATE ending_sum(integer)
        (SFUNC = int4pl, STYPE = integer, INITCOND = '0', FINALFUNC = marking_end);

    CREATE TABLE ruled (id integer);
    INSERT INTO ruled VALUES (1);
    ALTER TABLE ruled ENABLE ROW LEVEL SECURITY;
    CREATE POLICY marks_it ON ruled USING (leave_mark('policy') = 1);
    CREATE TABLE defined (id integer);
    INSERT INTO defined VALUES (1);
    ALTER TABLE defined ENABLE ROW LEVEL SECURITY;
    CREATE POLICY asks_it ON defined USING (definer() > 0);
    CREATE TABLE indexed (id integer);
    CREATE INDEX ON indexed (stored(id));
    CREATE TABLE generated (id integer, twice integer GENERATED ALWAYS AS (stored(id)) STORED);

    CREATE TABLE family (id integer);
    CREATE TABLE secret.child () INHERITS (family);
    INSERT INTO secret.child VALUES (7);
    CREATE FOREIGN DATA WRAPPER elsewhere;
    CREATE SERVER afar FOREIGN DATA WRAPPER elsewhere;
    CREATE FOREIGN TABLE distant (id integer) SERVER afar;
    CREATE TABLE parted (id integer) PARTITION BY LIST (id);
    CREATE FOREIGN TABLE parted_afar PARTITION OF parted FOR VALUES IN (1) SERVER afar;

    CREATE ROLE agent LOGIN;
    GRANT USAGE ON SCHEMA secret TO agent;
    GRANT SELECT ON ALL TABLES IN SCHEMA public, secret TO agent;
    GRANT SELECT ON counter TO agent;
    GRANT INSERT ON marks TO agent;
    REVOKE SELECT ON secret.salary FROM agent;
    GRANT EXECUTE ON FUNCTION rag_sql_check, rag_sql_run TO agent;
"#;

/// What becomes of a statement: the word with which `rag_sql_check` refuses it, or after `run` the SQLSTATE with
/// which `rag_sql_run` ends although the check has nothing against it.
pub type Hostile = (&'static str, &'static str);

/// Whoever calls: as the superuser, nothing but the guard holds.
pub const HOSTILE: &[Hostile] = &[
    // More than one statement, whatever stands between them.
    ("empty", ""),
    ("empty", " ; "),
    ("empty", "-- SELECT 1"),
    ("empty", "/* SELECT 1 */"),
    ("several_statements", "COMMIT; DROP TABLE items; SELECT 1"),
    ("several_statements", "SELECT 1; SELECT 2"),
    ("several_statements", "SELECT 1; DROP TABLE items"),
    ("several_statements", "SELECT ';' ; DELETE FROM items; --"),
    ("several_statements", "SELECT $a$;$a$; INSERT INTO marks VALUES ('a')"),
    ("several_statements", "END; BEGIN; INSERT INTO marks VALUES ('a'); COMMIT; SELECT 1"),
    ("several_statements", "ROLLBACK; SET ROLE postgres; SELECT 1"),
    ("several_statements", "SELECT 1 /* ; */ ; /* */ TRUNCATE items"),
    // No query.
    ("not_a_query", "/* SELECT */ INSERT INTO marks VALUES ('a')"),
    ("not_a_query", "-- SELECT\nDELETE FROM items"),
    ("not_a_query", "WITH a AS (SELECT 1) INSERT INTO marks SELECT 'a' FROM a"),
    ("not_a_query", "WITH a AS (SELECT 1) DELETE FROM items"),
    ("not_a_query", "INSERT INTO marks VALUES ('a') RETURNING what"),
    ("not_a_query", "UPDATE items SET name = 'x'"),
    ("not_a_query", "DELETE FROM items RETURNING *"),
    (
        "not_a_query",
        "MERGE INTO items USING marks ON false WHEN NOT MATCHED THEN INSERT VALUES (0)",
    ),
    ("not_a_query", "TRUNCATE items"),
    ("not_a_query", "DROP TABLE items"),
    ("not_a_query", "DROP SCHEMA public CASCADE"),
    ("not_a_query", "CREATE TABLE made (i int)"),
    ("not_a_query", "CREATE TABLE made AS SELECT 1"),
    ("not_a_query", "CREATE TEMP TABLE made AS SELECT 1"),
    ("not_a_query", "CREATE VIEW made AS SELECT 1"),
    ("not_a_query", "CREATE MATERIALIZED VIEW made AS SELECT 1"),
    ("not_a_query", "CREATE FUNCTION made() RETURNS int LANGUAGE sql AS 'SELECT 1'"),
    ("not_a_query", "CREATE EXTENSION dblink"),
    ("not_a_query", "ALTER TABLE items ADD COLUMN x int"),
    ("not_a_query", "ALTER ROLE agent SUPERUSER"),
    ("not_a_query", "ALTER SYSTEM SET work_mem = '1GB'"),
    ("not_a_query", "GRANT ALL ON items TO PUBLIC"),
    ("not_a_query", "COMMENT ON TABLE items IS 'x'"),
    ("not_a_query", "EXPLAIN ANALYZE DELETE FROM items"),
    ("not_a_query", "EXPLAIN SELECT 1"),
    ("not_a_query", "EXPLAIN (ANALYZE) SELECT leave_mark('explain')"),
    ("not_a_query", "COPY items TO PROGRAM 'touch mark_of_copy'"),
    ("not_a_query", "COPY (SELECT 1) TO PROGRAM 'touch mark_of_copy'"),
    ("not_a_query", "COPY items TO '/tmp/mark_of_copy'"),
    ("not_a_query", "COPY marks FROM PROGRAM 'echo a'"),
    ("not_a_query", "COPY items TO STDOUT"),
    ("not_a_query", "DO $$ BEGIN INSERT INTO marks VALUES ('do'); END $$"),
    ("not_a_query", "CALL rag_run()"),
    ("not_a_query", "SET transaction_read_only = off"),
    ("not_a_query", "SET TRANSACTION READ WRITE"),
    ("not_a_query", "SET LOCAL statement_timeout = 0"),
    ("not_a_query", "SET ROLE postgres"),
    ("not_a_query", "SET SESSION AUTHORIZATION postgres"),
    ("not_a_query", "RESET ALL"),
    ("not_a_query", "SHOW ALL"),
    ("not_a_query", "DISCARD ALL"),
    ("not_a_query", "BEGIN"),
    ("not_a_query", "COMMIT"),
    ("not_a_query", "ROLLBACK"),
    ("not_a_query", "SAVEPOINT a"),
    ("not_a_query", "ROLLBACK TO a"),
    ("not_a_query", "PREPARE TRANSACTION 'a'"),
    ("not_a_query", "PREPARE made AS DELETE FROM items"),
    ("not_a_query", "EXECUTE prepared"),
    ("not_a_query", "DEALLOCATE ALL"),
    ("not_a_query", "DECLARE c CURSOR FOR SELECT 1"),
    ("not_a_query", "FETCH ALL FROM c"),
    ("not_a_query", "LOCK TABLE items"),
    ("not_a_query", "LISTEN a"),
    ("not_a_query", "NOTIFY a"),
    ("not_a_query", "VACUUM items"),
    ("not_a_query", "ANALYZE items"),
    ("not_a_query", "REINDEX TABLE items"),
    ("not_a_query", "CLUSTER"),
    ("not_a_query", "CHECKPOINT"),
    ("not_a_query", "LOAD 'pg_rag'"),
    ("not_a_query", "IMPORT FOREIGN SCHEMA x FROM SERVER afar INTO public"),
    ("not_a_query", "REFRESH MATERIALIZED VIEW nothing"),
    ("not_a_query", "SECURITY LABEL ON TABLE items IS 'x'"),
    ("not_a_query", "REASSIGN OWNED BY agent TO postgres"),
    ("not_a_query", "DROP OWNED BY agent"),
    // Queries that do more than read.
    ("into", "SELECT * INTO made FROM items"),
    ("into", "SELECT 1 AS i INTO TEMP made"),
    ("into", "SELECT 1 AS i INTO UNLOGGED made UNION SELECT 2"),
    ("into", "WITH a AS (SELECT 1 AS i) SELECT i INTO made FROM a"),
    ("into", "SELECT * FROM (SELECT 1 INTO made) AS i"),
    ("changes_rows", "WITH d AS (DELETE FROM items RETURNING *) SELECT * FROM d"),
    ("changes_rows", "WITH d AS (INSERT INTO marks VALUES ('a') RETURNING *) SELECT 1"),
    ("changes_rows", "WITH d AS (UPDATE items SET name = 'x' RETURNING *) SELECT * FROM d"),
    ("changes_rows", "WITH a AS (SELECT 1), d AS (DELETE FROM items) SELECT * FROM a"),
    ("changes_rows", "WITH RECURSIVE d AS (DELETE FROM items RETURNING id) SELECT * FROM d"),
    ("locks_rows", "SELECT * FROM items FOR UPDATE"),
    ("locks_rows", "SELECT * FROM items FOR NO KEY UPDATE"),
    ("locks_rows", "SELECT * FROM items FOR SHARE"),
    ("locks_rows", "SELECT * FROM items FOR KEY SHARE SKIP LOCKED"),
    ("locks_rows", "SELECT * FROM (SELECT * FROM items FOR UPDATE) AS i"),
    ("locks_rows", "WITH i AS (SELECT * FROM items FOR UPDATE NOWAIT) SELECT * FROM i"),
    ("locks_rows", "SELECT * FROM items AS i WHERE EXISTS (SELECT FROM marks FOR SHARE)"),
    ("locks_rows", "SELECT * FROM locking"),
    // Functions that change something.
    ("function", "SELECT leave_mark('a')"),
    ("function", "SELECT * FROM leave_mark('a')"),
    ("function", "SELECT id FROM items WHERE leave_mark('a') = 1"),
    ("function", "SELECT id FROM items ORDER BY leave_mark('a')"),
    ("function", "SELECT count(*) FROM items GROUP BY leave_mark('a')"),
    ("function", "SELECT count(*) FROM items HAVING leave_mark('a') = 1"),
    ("function", "SELECT DISTINCT leave_mark('a') FROM items"),
    ("function", "SELECT id FROM items LIMIT leave_mark('a')"),
    ("function", "SELECT id FROM items OFFSET leave_mark('a')"),
    ("function", "SELECT * FROM items JOIN marks ON leave_mark('a') = 1"),
    ("function", "SELECT * FROM items, LATERAL (SELECT leave_mark(name)) AS l"),
    ("function", "VALUES (leave_mark('a'))"),
    ("function", "VALUES (1), (leave_mark('a'))"),
    ("function", "SELECT 1 UNION SELECT leave_mark('a')"),
    ("function", "WITH a AS (SELECT leave_mark('a')) SELECT 1"),
    ("function", "WITH a AS MATERIALIZED (SELECT leave_mark('a')) SELECT * FROM a"),
    ("function", "SELECT CASE WHEN id = 0 THEN leave_mark('a') END FROM items"),
    ("function", "SELECT coalesce(leave_mark('a'), 1), nullif(1, leave_mark('b'))"),
    ("function", "SELECT ARRAY[leave_mark('a')]"),
    ("function", "SELECT ROW(leave_mark('a'))"),
    ("function", "SELECT (ARRAY[1])[leave_mark('a')]"),
    ("function", "SELECT greatest(1, leave_mark('a'))"),
    ("function", "SELECT EXISTS (SELECT leave_mark('a'))"),
    ("function", "SELECT 1 = ANY (ARRAY[leave_mark('a')])"),
    ("function", "SELECT 1 IN (SELECT leave_mark('a'))"),
    ("function", "SELECT leave_mark('a') IS NULL"),
    ("function", "SELECT sum(leave_mark('a')) FROM items"),
    ("function", "SELECT count(*) FILTER (WHERE leave_mark('a') = 1) FROM items"),
    ("function", "SELECT string_agg(name, ',' ORDER BY leave_mark('a')) FROM items"),
    ("function", "SELECT sum(id) OVER (ORDER BY leave_mark('a')) FROM items"),
    ("function", "SELECT sum(id) OVER (ROWS leave_mark('a') PRECEDING) FROM items"),
    ("function", "SELECT leave_mark('a')::text COLLATE \"C\""),
    ("function", "SELECT id FROM items TABLESAMPLE bernoulli (leave_mark('a'))"),
    ("function", "SELECT * FROM ROWS FROM (generate_series(1, 2), leave_mark('a')) AS r"),
    ("function", "SELECT * FROM generate_series(1, leave_mark('a'))"),
    ("function", "SELECT \"leave_mark\"('a')"),
    ("function", "SELECT public . leave_mark /* a */ ('a')"),
    ("function", "SELECT U&\"\\006ceave_mark\"('a')"),
    ("function", "SELECT unmarked(1)"),
    ("function", "SELECT set_config('transaction_read_only', 'off', false)"),
    ("function", "SELECT set_config('statement_timeout', '0', true), pg_sleep(60)"),
    ("function", "SELECT set_config('search_path', 'secret', false)"),
    ("function", "SELECT set_config('role', 'postgres', false)"),
    ("function", "SELECT current_setting('data_directory')"),
    ("function", "SELECT current_setting('app.token', true)"),
    ("function", "SELECT pg_sleep(60)"),
    ("function", "SELECT pg_sleep_for('1 minute')"),
    ("function", "SELECT * FROM pg_read_file('PG_VERSION')"),
    ("function", "SELECT pg_read_binary_file('PG_VERSION')"),
    ("function", "SELECT * FROM pg_ls_dir('.')"),
    ("function", "SELECT * FROM pg_stat_file('PG_VERSION')"),
    ("function", "SELECT * FROM pg_ls_waldir()"),
    ("function", "SELECT pg_current_logfile()"),
    ("function", "SELECT lo_import('PG_VERSION')"),
    ("function", "SELECT lo_create(0)"),
    ("function", "SELECT lo_from_bytea(0, 'x')"),
    ("function", "SELECT lo_get(1)"),
    ("function", "SELECT lo_export(1, 'mark_of_copy')"),
    ("function", "SELECT lo_unlink(1)"),
    ("function", "SELECT query_to_xml('DELETE FROM items', true, true, '')"),
    ("function", "SELECT query_to_xmlschema('SELECT 1', true, true, '')"),
    ("function", "SELECT table_to_xml('secret.salary', true, true, '')"),
    ("function", "SELECT schema_to_xml('secret', true, true, '')"),
    ("function", "SELECT database_to_xml(true, true, '')"),
    ("function", "SELECT cursor_to_xml('c', 1, true, true, '')"),
    ("function", "SELECT xpath('//a', NULL)"),
    ("function", "SELECT * FROM XMLTABLE('//a' PASSING (NULL::xml) COLUMNS b text PATH 'b')"),
    ("function", "SELECT * FROM ts_stat('SELECT to_tsvector(amount::text) FROM secret.salary')"),
    (
        "function",
        "SELECT ts_rewrite('a'::tsquery, 'SELECT ''a''::tsquery, leave_mark(''a'')::text::tsquery')",
    ),
    ("function", "SELECT pg_terminate_backend(pg_backend_pid())"),
    ("function", "SELECT pg_cancel_backend(pg_backend_pid())"),
    ("function", "SELECT pg_terminate_backend(pid) FROM items, generate_series(1, 9) AS pid"),
    ("function", "SELECT pg_reload_conf()"),
    ("function", "SELECT pg_rotate_logfile()"),
    ("function", "SELECT pg_switch_wal()"),
    ("function", "SELECT pg_create_restore_point('a')"),
    ("function", "SELECT pg_promote()"),
    ("function", "SELECT pg_logical_emit_message(true, 'a', 'a')"),
    ("function", "SELECT pg_create_physical_replication_slot('a')"),
    ("function", "SELECT pg_notify('a', 'b')"),
    ("function", "SELECT pg_advisory_lock(1)"),
    ("function", "SELECT pg_advisory_xact_lock(1)"),
    ("function", "SELECT pg_try_advisory_lock(1)"),
    ("function", "SELECT pg_advisory_unlock_all()"),
    ("function", "SELECT nextval('counter')"),
    ("function", "SELECT setval('counter', 7)"),
    ("function", "SELECT currval('counter')"),
    ("function", "SELECT pg_export_snapshot()"),
    ("function", "SELECT txid_current()"),
    ("function", "SELECT pg_current_xact_id()"),
    ("function", "SELECT setseed(0.5)"),
    ("function", "SELECT pg_stat_reset()"),
    ("function", "SELECT pg_stat_get_activity(NULL)"),
    ("function", "SELECT pg_stat_get_backend_activity(1)"),
    ("function", "SELECT pg_get_viewdef('salaries')"),
    ("function", "SELECT pg_get_functiondef('definer'::regproc)"),
    ("function", "SELECT pg_relation_filepath('items')"),
    ("function", "SELECT currtid2('secret.salary', '(0,1)')"),
    ("function", "SELECT pg_import_system_collations('public')"),
    ("function", "SELECT pg_log_backend_memory_contexts(1)"),
    ("function", "SELECT gin_clean_pending_list('items_pkey')"),
    ("function", "SELECT brin_summarize_new_values('items_pkey')"),
    ("function", "SELECT rag_sql_run('SELECT 1')"),
    ("function", "SELECT rag_sql_check('SELECT 1')"),
    ("function", "SELECT rag_generate('all rows: ' || string_agg(name, ' ')) FROM items"),
    ("function", "SELECT rag_embed(name) FROM items"),
    ("function", "SELECT * FROM rag_retrieve('salaries')"),
    ("function", "SELECT rag_create_pipeline('items', 'name')"),
    ("function", "SELECT rag_answer('salaries')"),
    // What calls functions without their names.
    ("function", "SELECT * FROM marking"),
    ("function", "SELECT count(*) FROM behind"),
    ("function", "TABLE marking"),
    ("function", "SELECT 1 FROM items WHERE id IN (SELECT id FROM marking)"),
    ("function", "SELECT 1 |+| 2"),
    ("function", "SELECT 1 OPERATOR(public.|+|) 2"),
    ("function", "SELECT id === ANY (ARRAY['a']) FROM items"),
    ("function", "SELECT id === 'a' FROM items"),
    ("function", "SELECT CAST(1 AS pair)"),
    ("function", "SELECT (id::pair).a FROM items"),
    ("function", "SELECT ARRAY[1, 2]::pair[]"),
    ("function", "SELECT m FROM moods"),
    ("function", "SELECT to_jsonb(m) FROM moods"),
    ("function", "SELECT json_agg(moods) FROM moods"),
    ("function", "SELECT 1::checked"),
    ("function", "SELECT id::doubly FROM items"),
    ("function", "SELECT CAST('1' AS text)::checked"),
    ("function", "SELECT ARRAY[1]::checked[]"),
    ("function", "SELECT * FROM json_populate_record(NULL::holder, '{\"c\": 1}')"),
    ("function", "SELECT * FROM json_to_record('{\"c\": 1}') AS r (c checked)"),
    ("function", "SELECT * FROM jsonb_to_recordset('[{\"c\": 1}]') AS r (c doubly)"),
    ("function", "SELECT '(1,a)'::holder"),
    ("function", "SELECT takes_holder('(1,a)')"),
    ("function", "SELECT takes_many('{1,2}')"),
    ("function", "SELECT '{1}'::checked[]"),
    ("function", "SELECT marking_sum(id) FROM items"),
    ("function", "SELECT ending_sum(id) FROM items"),
    ("function", "SELECT marking_sum(id) OVER (ORDER BY id) FROM items"),
    ("function", "SELECT * FROM indexed"),
    ("function", "SELECT * FROM generated"),
    // Functions with more rights, or more memory, than the caller's.
    ("function", "SELECT definer()"),
    ("function", "SELECT * FROM definer()"),
    ("function", "SELECT greedy()"),
    ("function", "SELECT untimed()"),
    // Functions whose mark is a lie.
    ("run 42501", "SELECT lying_stable()"),
    ("run 42501", "SELECT lying_stable() FROM items"),
    ("run 42501", "SELECT lying_immutable(1)"),
    ("run 42501", "SELECT id FROM items WHERE id = lying_immutable(1)"),
    ("run 42501", "SELECT lying_immutable(id) FROM items"),
    ("run 42501", "SELECT lying_sql()"),
    ("run 42501", "SELECT * FROM lying_rows()"),
    ("run 42501", "SELECT lying_locks()"),
    ("run 42501", "SELECT lying_again()"),
    ("run 42501", "SELECT lying_sets()"),
    ("run 0A000", "SELECT lying_writes()"),
    ("run 0A000", "SELECT lying_command()"),
    ("run 0A000", "SELECT lying_copy()"),
    ("run 0A000", "SELECT runs_text('DELETE FROM items')"),
    ("run 42501", "SELECT runs_text('SELECT leave_mark(''a'')')"),
    ("run 42501", "SELECT runs_text('SELECT nextval(''counter'')')"),
    ("run 42501", "SELECT runs_text('SELECT pg_terminate_backend(pg_backend_pid())')"),
    ("run 0A000", "SELECT runs_text('SET work_mem = ''1GB''')"),
    ("run 0A000", "SELECT runs_text('SELECT id FROM items FOR UPDATE')"),
    // Relations that may not be read.
    ("relation", "SELECT * FROM pg_catalog.pg_class"),
    ("relation", "SELECT rolpassword FROM pg_authid"),
    ("relation", "SELECT * FROM pg_user"),
    ("relation", "SELECT * FROM information_schema.tables"),
    ("relation", "TABLE pg_settings"),
    ("relation", "SELECT * FROM pg_stat_activity"),
    ("relation", "SELECT * FROM pg_largeobject"),
    ("relation", "SELECT * FROM pg_statistic"),
    ("relation", "SELECT * FROM catalogs"),
    ("relation", "SELECT * FROM distant"),
    ("relation", "SELECT * FROM parted"),
    // What PostgreSQL itself does not understand.
    ("error", "SELEC 1"),
    ("error", "SELECT * FROM"),
    ("error", "SELECT nothing FROM items"),
    ("error", "SELECT * FROM nowhere"),
    ("error", "SELECT $1"),
    ("error", "SELECT 1 WHERE CURRENT OF c"),
    // What takes too much.
    ("run 53400", "SELECT count(*) FROM generate_series(1, 1000000000000)"),
    ("run 53400", "SELECT * FROM generate_series(1, 1000000000000)"),
    ("run 53400", "SELECT count(*) FROM items a, items b, items c, items d, items e, items f"),
    (
        "run 53400",
        "SELECT a.id FROM items a CROSS JOIN items b CROSS JOIN items c CROSS JOIN items d",
    ),
    (
        "run 57014|53400",
        "WITH RECURSIVE r AS (SELECT 1 AS n UNION ALL SELECT n FROM r) SELECT count(*) FROM r",
    ),
    ("run 57014", "SELECT endless()"),
    ("run 57014", "SELECT stubborn()"),
    ("run 54001", "SELECT deep(1)"),
    ("run 53200", "SELECT repeat('x', 1000000000)"),
    ("run 54000", "SELECT repeat('x', 20000000) FROM items"),
    ("run 54000", "SELECT lpad('x', 20000000, 'y')"),
    ("run 53200", "SELECT length(repeat('x', 1000000000))"),
    (
        "run 53200",
        "SELECT length(array_to_string(array_agg(repeat(name, 1000000)), '')) FROM items",
    ),
    (
        "run 53200",
        "SELECT string_agg(repeat('x', 100000), '') = '' FROM generate_series(1, 9000) AS i",
    ),
    (
        "run 53200|53400",
        "WITH RECURSIVE r AS (SELECT 'xxxxxxxxxxxxxxxx' AS s UNION ALL SELECT s || s FROM r) SELECT max(length(s)) FROM r",
    ),
    ("run 57014", "SELECT repeat('x', 301) ~ '^(x+)(x+)(x+)(x+)(x+)\\1\\2\\3\\4\\5$'"),
];

/// With `{"schemas": ["public"]}` as the options.
pub const OUTSIDE_OF_SCHEMAS: &[Hostile] = &[
    ("relation", "SELECT * FROM secret.salary"),
    ("relation", "TABLE secret.salary"),
    ("relation", "SELECT * FROM salaries"),
    ("relation", "SELECT 1 WHERE EXISTS (SELECT FROM secret.salary)"),
    ("relation", "SELECT id, (SELECT amount FROM secret.salary LIMIT 1) FROM items"),
    ("relation", "WITH s AS (SELECT * FROM secret.salary) SELECT 1"),
    ("relation", "SELECT * FROM family"),
    ("relation", "SELECT * FROM pg_class"),
];

/// For a role under row-level security.
pub const UNDER_POLICIES: &[Hostile] = &[
    ("function", "SELECT * FROM ruled"),
    ("function", "SELECT 1 FROM items WHERE id IN (SELECT id FROM ruled)"),
    ("function", "SELECT * FROM defined"),
    ("permission", "SELECT * FROM secret.salary"),
];

/// What people ask for, all of which may run.
pub const HARMLESS: &[&str] = &[
    "SELECT 1",
    "SELECT 1;",
    "SELECT 1 AS a, 2 AS b -- DROP TABLE items",
    "VALUES (1, 'a'), (2, NULL)",
    "TABLE items",
    "SELECT",
    "SELECT * FROM items WHERE false",
    "(SELECT id FROM items ORDER BY id LIMIT 2) UNION ALL (SELECT 7)",
    "WITH a AS (SELECT id FROM items), b AS (SELECT * FROM a WHERE id < 9) SELECT count(*) FROM b",
    "WITH RECURSIVE r AS (SELECT 1 AS n UNION ALL SELECT n + 1 FROM r WHERE n < 20) SELECT sum(n) FROM r",
    "WITH RECURSIVE r AS (SELECT 1 AS n UNION SELECT n % 5 + 1 FROM r) CYCLE n SET c USING p SELECT n FROM r ORDER BY n",
    "SELECT id, name, price::integer, made + 1, tags[1], array_length(tags, 1) FROM items ORDER BY id",
    "SELECT date_trunc('month', made) AS month, count(*), avg(price) FROM items GROUP BY 1 ORDER BY 1",
    "SELECT made, id, sum(price) FROM items GROUP BY GROUPING SETS ((made), (id), ()) ORDER BY made, id",
    "SELECT id, rank() OVER (PARTITION BY id % 3 ORDER BY price DESC) FROM items ORDER BY id",
    "SELECT id, sum(price) OVER (ORDER BY made RANGE BETWEEN interval '3 days' PRECEDING AND CURRENT ROW) FROM items ORDER BY id",
    "SELECT string_agg(name, ', ' ORDER BY id DESC) FILTER (WHERE id < 5), array_agg(DISTINCT id % 3) FROM items",
    "SELECT percentile_cont(0.5) WITHIN GROUP (ORDER BY price), mode() WITHIN GROUP (ORDER BY id % 3) FROM items",
    "SELECT a.id FROM items AS a JOIN items AS b USING (id) LEFT JOIN marks ON true WHERE a.price > 10 ORDER BY 1",
    "SELECT i.id, l.n FROM items AS i CROSS JOIN LATERAL (SELECT i.id * 2 AS n) AS l ORDER BY 1 FETCH FIRST 3 ROWS WITH TIES",
    "SELECT * FROM generate_series(date '2026-01-01', '2026-01-05', '1 day') AS d",
    "SELECT * FROM unnest(ARRAY[1, 2], ARRAY['a', 'b']) WITH ORDINALITY AS u (a, b, n)",
    "SELECT count(*) FROM items TABLESAMPLE system (100)",
    "SELECT lower(name), name ILIKE '%1%', name ~ '^item [0-9]+$', name SIMILAR TO 'item 1%' FROM items ORDER BY id",
    "SELECT to_char(made, 'YYYY-MM'), extract(year FROM made), age(date '2027-01-01', made) FROM items ORDER BY id",
    "SELECT to_tsvector('english', name) @@ websearch_to_tsquery('english', 'item') FROM items ORDER BY id",
    "SELECT jsonb_build_object('id', id, 'tags', tags), to_json(items) FROM items ORDER BY id",
    "SELECT json_agg(i ORDER BY id) FROM items AS i",
    "SELECT * FROM jsonb_to_recordset('[{\"a\": 1, \"b\": \"x\"}]') AS r (a integer, b text)",
    "SELECT jsonb_path_query_array('[1, 2, 3]', '$[*] ? (@ > 1)'), '{\"a\": {\"b\": 1}}'::jsonb #>> '{a,b}'",
    "SELECT ROW(id, name), ARRAY[ROW(1, 'a')], items FROM items ORDER BY id",
    "SELECT count(*) FROM (SELECT random() AS r, gen_random_uuid(), clock_timestamp() FROM items) AS s WHERE r BETWEEN 0 AND 1",
    "SELECT CURRENT_DATE >= '2020-01-01', now() > '2020-01-01', current_user IS NOT NULL",
    "SELECT pg_relation_size('items') > 0, pg_size_pretty(8192::bigint)",
    "SELECT 'NaN'::float8, 'infinity'::float8, 1e300, 12345678901234567890.123456789, NULL::text, true",
    "SELECT 'infinity'::timestamptz, interval '1 day 2 hours', '[1,5)'::int4range, '{[1,2]}'::int4multirange",
    "SELECT '\\x00ff'::bytea, 'a'::\"char\", E'tab\\t\"quote\" \\\\ ä数', '192.168.0.1'::inet, B'101'",
    "SELECT greatest(1, 2), least(id, 50), coalesce(NULL, id), CASE WHEN id > 1 THEN 'a' ELSE 'b' END FROM items ORDER BY id",
    "SELECT id FROM items WHERE (id, name) < (5, 'z') AND id = ANY (ARRAY[1, 2, 3]) AND id NOT IN (2) ORDER BY id",
    "SELECT id IS DISTINCT FROM 1, name COLLATE \"C\" < 'j' FROM items ORDER BY id",
    "SELECT last_value FROM counter",
    "SELECT rag_faithfulness('A link is sent.', ARRAY['A link is sent by mail.'])",
];
