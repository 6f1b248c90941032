-- What CREATE EXTENSION makes, and what it leaves when it goes.
\set SHOW_CONTEXT never
\pset format unaligned
\pset tuples_only on
SET client_min_messages = warning;

SELECT extname, extnamespace::regnamespace, extrelocatable FROM pg_extension WHERE extname IN ('pg_rag', 'vector') ORDER BY 1;

-- Functions, as \df shows them.
SELECT format('%s(%s) -> %s', p.oid::regproc, pg_get_function_arguments(p.oid), pg_get_function_result(p.oid))
FROM pg_proc p JOIN pg_depend d ON d.objid = p.oid AND d.classid = 'pg_proc'::regclass AND d.deptype = 'e'
WHERE d.refobjid = (SELECT oid FROM pg_extension WHERE extname = 'pg_rag')
ORDER BY p.proname, p.oid;

-- None runs with its owner's rights; what is costly is said to be, so that it is called last.
SELECT p.oid::regproc, CASE provolatile WHEN 's' THEN 'stable' WHEN 'v' THEN 'volatile' ELSE 'immutable' END,
       CASE proparallel WHEN 's' THEN 'safe' WHEN 'r' THEN 'restricted' ELSE 'unsafe' END,
       proisstrict, prosecdef, procost >= 1000
FROM pg_proc p JOIN pg_depend d ON d.objid = p.oid AND d.classid = 'pg_proc'::regclass AND d.deptype = 'e'
WHERE d.refobjid = (SELECT oid FROM pg_extension WHERE extname = 'pg_rag')
ORDER BY p.proname, p.oid;

-- What a user can call has a comment.
SELECT p.oid::regproc
FROM pg_proc p JOIN pg_depend d ON d.objid = p.oid AND d.classid = 'pg_proc'::regclass AND d.deptype = 'e'
WHERE d.refobjid = (SELECT oid FROM pg_extension WHERE extname = 'pg_rag')
  AND obj_description(p.oid, 'pg_proc') IS NULL;

-- So has what a role can read, and each column of it.
SELECT c.oid::regclass, a.attname
FROM pg_class c
CROSS JOIN LATERAL (
    SELECT 0, NULL UNION ALL
    SELECT t.attnum, t.attname FROM pg_attribute t WHERE t.attrelid = c.oid AND t.attnum > 0 AND NOT t.attisdropped
) AS a (attnum, attname)
WHERE c.relnamespace = 'rag'::regnamespace AND c.relkind IN ('r', 'p', 'v', 'm', 'f')
  AND (c.relkind = 'v' OR has_any_column_privilege('regress_stranger', c.oid, 'SELECT'))
  AND NOT EXISTS (SELECT FROM pg_description d
                  WHERE d.classoid = 'pg_class'::regclass AND d.objoid = c.oid AND d.objsubid = a.attnum)
ORDER BY 1, a.attnum;

-- The catalog.
SELECT attrelid::regclass, attname, format_type(atttypid, atttypmod), attnotnull
FROM pg_attribute
WHERE attrelid IN ('rag.model'::regclass, 'rag.pipeline'::regclass) AND attnum > 0 AND NOT attisdropped
ORDER BY attrelid::regclass::text, attnum;
SELECT name, file, dimension, max_tokens, pooling, normalized, digest IS NULL, builtin FROM rag.model ORDER BY name;
SELECT count(*) FROM rag.pipeline;

-- Rights of everybody.
SELECT relation, privilege, has_table_privilege('regress_stranger', relation, privilege)
FROM unnest(ARRAY['rag.model', 'rag.pipeline']) AS relation,
     unnest(ARRAY['SELECT', 'INSERT', 'UPDATE', 'DELETE', 'TRUNCATE']) AS privilege
ORDER BY 1, 2;
SELECT has_foreign_data_wrapper_privilege('regress_stranger', 'rag_llm', 'USAGE');

-- A database that is not in UTF8.
CREATE DATABASE regress_latin1 ENCODING 'LATIN1' LC_COLLATE 'C' LC_CTYPE 'C' TEMPLATE template0;
\c regress_latin1
SET client_min_messages = warning;
CREATE EXTENSION pg_rag CASCADE;
\c regress_install
DROP DATABASE regress_latin1;

-- Without pgvector and without CASCADE.
SET client_min_messages = warning;
DROP EXTENSION pg_rag;
DROP EXTENSION vector;
SELECT count(*) FROM pg_namespace WHERE nspname = 'rag';
CREATE EXTENSION pg_rag;

-- In another schema, with pgvector in a third.
CREATE SCHEMA ai;
CREATE SCHEMA types;
CREATE EXTENSION vector SCHEMA types;
CREATE EXTENSION pg_rag SCHEMA ai;
CREATE TABLE docs (id integer PRIMARY KEY, body text);
INSERT INTO docs VALUES (1, 'The mill stands by the river.');
SELECT ai.rag_create_pipeline('docs', 'body');
SELECT relname, obj_description(oid, 'pg_class') FROM pg_class WHERE relname LIKE 'docs_rag%' AND relkind IN ('r', 'v') ORDER BY 1;
SELECT DISTINCT attname FROM pg_attribute
WHERE attrelid IN ('docs_rag'::regclass, 'docs_rag_chunks'::regclass, 'docs_rag_content'::regclass)
  AND attnum > 0 AND NOT attisdropped AND col_description(attrelid, attnum) IS NULL ORDER BY 1;
SELECT source_key, content FROM ai.rag_retrieve('Where is the mill?');
SELECT ai.rag_answer('Where is the mill?');
INSERT INTO docs VALUES (2, 'The inn stands on the hill.');
SELECT ai.rag_wait();
SELECT source_key FROM ai.rag_retrieve('Where is the inn?', k => 1);
SELECT pg_typeof(ai.rag_embed('a')), pg_typeof(ai.rag_embed_batch(ARRAY['a']));

-- Pipelines depend on the extension. Chunks stay when it goes, as a plain table.
SELECT unnest(string_to_array(replace(line, 'DETAIL: ', ''), E'\n')) COLLATE "C" AS dependent FROM fails('DROP EXTENSION pg_rag') AS line WHERE line LIKE 'DETAIL%' ORDER BY 1;
DROP EXTENSION pg_rag CASCADE;
INSERT INTO docs VALUES (3, 'Nobody is told of this.');
SELECT count(*) FROM docs_rag_chunks;
CREATE EXTENSION pg_rag;
SELECT fails($$SELECT rag_create_pipeline('docs', 'body')$$);
