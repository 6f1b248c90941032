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
