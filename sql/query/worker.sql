-- Pipeline workers.

-- name: end_workers
-- Ends the pipeline workers of this database.
SELECT pg_catalog.pg_terminate_backend(a.pid) FROM pg_catalog.pg_stat_activity AS a
WHERE a.backend_type OPERATOR(pg_catalog.=) 'pg_rag worker' AND a.datname OPERATOR(pg_catalog.=) pg_catalog.current_database()
