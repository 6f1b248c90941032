-- Run once in a fresh database, of which each test gets a copy.

\set ON_ERROR_STOP on
SET client_min_messages = warning;
CREATE EXTENSION pg_rag CASCADE;

-- Runs a statement that must fail: its SQLSTATE, message, detail and hint.
CREATE FUNCTION fails(statement text) RETURNS SETOF text
LANGUAGE plpgsql AS $$
DECLARE
    state text;
    message text;
    details text;
    hint text;
BEGIN
    EXECUTE statement;
    RETURN NEXT 'did not fail';
EXCEPTION WHEN OTHERS THEN
    GET STACKED DIAGNOSTICS state = RETURNED_SQLSTATE, message = MESSAGE_TEXT,
        details = PG_EXCEPTION_DETAIL, hint = PG_EXCEPTION_HINT;
    RETURN NEXT state || ': ' || message;
    IF details <> '' THEN RETURN NEXT 'DETAIL: ' || details; END IF;
    IF hint <> '' THEN RETURN NEXT 'HINT: ' || hint; END IF;
END
$$;

-- A query's plan, with vectors cut short and without what only some versions of PostgreSQL say.
CREATE FUNCTION explained(query text) RETURNS SETOF text LANGUAGE plpgsql AS $$
DECLARE
    line text;
BEGIN
    FOR line IN EXECUTE 'EXPLAIN (COSTS OFF) ' || query LOOP
        CONTINUE WHEN line LIKE '%Disabled: true%';
        RETURN NEXT regexp_replace(line, '''\[[^]]*\]''', '''[...]''', 'g');
    END LOOP;
END
$$;

-- Roles belong to the cluster, so an earlier run may have made them.
DO $$
DECLARE
    role text;
BEGIN
    FOREACH role IN ARRAY ARRAY['regress_owner', 'regress_reader', 'regress_writer', 'regress_stranger'] LOOP
        IF NOT EXISTS (SELECT FROM pg_roles WHERE rolname = role) THEN
            EXECUTE format('CREATE ROLE %I', role);
        END IF;
    END LOOP;
END
$$;
