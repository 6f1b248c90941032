//! What a statement may lay hands on.

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
