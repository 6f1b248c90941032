-- The settings rag.*.
\set SHOW_CONTEXT never
\pset format unaligned
\pset tuples_only on
SET client_min_messages = warning;

-- Known once the library is loaded. The server of these tests gives ragd more time to start than others do.
LOAD 'pg_rag';
SELECT name, CASE name WHEN 'rag.ragd_start_timeout' THEN boot_val ELSE setting END AS setting, unit, context, vartype, min_val, max_val, boot_val FROM pg_settings WHERE name LIKE 'rag.%' ORDER BY name;
SELECT name, short_desc FROM pg_settings WHERE name LIKE 'rag.%' ORDER BY name;

-- The prefix is reserved.
SET rag.nonsense = 1;

-- Values are checked.
SET rag.min_confidence = 2;
SET rag.min_confidence = 'high';
-- PostgreSQL 16 and 18 say the range differently.
\set VERBOSITY sqlstate
SET rag.ragd_start_timeout = 1;
\set VERBOSITY default
SET rag.ragd_start_timeout = '20s';
SHOW rag.ragd_start_timeout;
RESET rag.ragd_start_timeout;

-- What concerns the whole server is not a session's to set, nor everybody's to see.
SET rag.inference_threads = 1;
SET rag.ragd_path = '/tmp/ragd';
SET rag.onnxruntime_library = '/tmp/lib.so';
SET ROLE regress_stranger;
SHOW rag.ragd_path;
SHOW rag.onnxruntime_library;
SELECT count(*) FROM pg_settings WHERE name IN ('rag.ragd_path', 'rag.onnxruntime_library');
SET rag.embedding_model = 'all-minilm-l6-v2-fp32';
SHOW rag.embedding_model;
RESET ROLE;

-- By role, by database, by function, by transaction.
ALTER ROLE regress_stranger SET rag.llm = 'somewhere';
ALTER ROLE regress_stranger RESET rag.llm;
BEGIN;
SET LOCAL rag.llm = 'somewhere';
SHOW rag.llm;
COMMIT;
SHOW rag.llm;

-- How ragd is.
SELECT pid > 0, version, waiting FROM rag.daemon_status();
SELECT rag_embed('wakes the model') IS NOT NULL;
SELECT 'all-minilm-l6-v2' = ANY (models) FROM rag.daemon_status();
