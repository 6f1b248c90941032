-- What `make install MODEL=...` adds to the installation script. Databases in which the extension is created have this embedding
-- model as their default from then on, and so has the session that creates it, unless somebody has said which.

DO $$
BEGIN
    IF (SELECT s.source FROM pg_catalog.pg_settings AS s WHERE s.name = 'rag.embedding_model') = 'default' THEN
        EXECUTE pg_catalog.format('ALTER DATABASE %I SET rag.embedding_model = %L', pg_catalog.current_database(), '@MODEL@');
        PERFORM pg_catalog.set_config('rag.embedding_model', '@MODEL@', false);
    END IF;
END
$$;
