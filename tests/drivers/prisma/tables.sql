-- region tables
SELECT relnamespace::regnamespace::text || '.' || relname AS name FROM pg_class
WHERE oid IN (SELECT chunk_table FROM rag.pipeline UNION SELECT relation FROM rag.derivation);
-- endregion
