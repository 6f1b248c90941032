-- Schema, and what the database must be.

DO $$
BEGIN
    IF pg_catalog.current_setting('server_encoding') <> 'UTF8' THEN
        RAISE EXCEPTION 'pg_rag needs a database in UTF8, this one is in %',
            pg_catalog.current_setting('server_encoding')
            USING ERRCODE = 'feature_not_supported',
                  HINT = 'Create a database with ENCODING ''UTF8'' TEMPLATE template0.';
    END IF;
END
$$;

CREATE SCHEMA rag;
COMMENT ON SCHEMA rag IS 'pg_rag: catalog, views and administration';
GRANT USAGE ON SCHEMA rag TO PUBLIC;

-- pg_dump writes both settings at the head of a dump, and pg_restore makes them in each of its sessions.
CREATE FUNCTION rag.is_being_restored() RETURNS boolean
STABLE PARALLEL SAFE LANGUAGE sql
BEGIN ATOMIC
    SELECT NOT pg_catalog.current_setting('row_security')::boolean
       AND NOT pg_catalog.current_setting('check_function_bodies')::boolean;
END;
COMMENT ON FUNCTION rag.is_being_restored IS 'whether this session restores a dump, in which tables are filled in any order';
