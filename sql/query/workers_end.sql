-- Ends the pipeline workers of this database.
SELECT pg_catalog.pg_terminate_backend(a.pid) FROM pg_catalog.pg_stat_activity AS a
WHERE a.backend_type = 'pg_rag worker' AND a.datname = pg_catalog.current_database()
