-- A vector of the caller's in the place of a question, or beside one.
\set SHOW_CONTEXT never
\pset format unaligned
\pset tuples_only on
\pset null NULL
SET client_min_messages = warning;
CREATE TABLE docs (id integer PRIMARY KEY, body text, lang text);
INSERT INTO docs VALUES
    (1, 'To reset a password, open the settings page and choose Reset password.', 'en'),
    (2, 'Invoices are sent on the first day of each month.', 'en'),
    (3, 'Das Passwort wird auf der Seite Einstellungen zurückgesetzt.', 'de'),
    (4, 'Visitors park their cars behind the mill.', 'en'),
    (5, 'Forgotten passwords are reset by mail.', 'en');
ALTER TABLE docs ENABLE ROW LEVEL SECURITY;
CREATE POLICY english ON docs TO regress_reader USING (lang = 'en');
GRANT SELECT ON docs TO regress_reader;
SELECT rag_create_pipeline('docs', 'body', metadata => ARRAY['lang'], refresh => 'sync');

-- The question's own vector finds what the question finds, in both modes.
SELECT mode, count(*), bool_and(a = b) FROM unnest(ARRAY['dense', 'hybrid']) AS mode,
    rag_retrieve('How do I reset my password?', k => 4, mode => mode) AS a
    JOIN LATERAL rag_retrieve('How do I reset my password?', k => 4, mode => mode, query_vector => rag_embed('How do I reset my password?')) AS b USING (rank)
GROUP BY mode ORDER BY mode;
-- Without a question the vectors do alone, whatever is the mode.
SELECT count(*), bool_and(a = b) FROM rag_retrieve('How do I reset my password?', k => 4, mode => 'dense') AS a
    JOIN rag_retrieve(NULL, k => 4, query_vector => rag_embed('How do I reset my password?')) AS b USING (rank);
SELECT mode, rank, source_key, dense_rank, lexical_rank FROM unnest(ARRAY[NULL, 'dense', 'hybrid']) AS mode, rag_retrieve('', k => 1, mode => mode, query_vector => rag_embed('When are invoices sent?')) ORDER BY mode;
-- Words and vector may say different things.
SELECT source_key, dense_rank, lexical_rank FROM rag_retrieve('mill', k => 9, query_vector => rag_embed('When are invoices sent?'), options => '{"retrieve": {"rrf_k": 60}}') WHERE 1 IN (dense_rank, lexical_rank) ORDER BY source_key;

-- More like a row, but for the row.
SELECT source_key FROM rag_retrieve(NULL, k => 2, query_vector => (SELECT embedding FROM docs_rag WHERE source_id = 1), filter => '{"id": {"ne": 1}}') ORDER BY source_key;
SELECT source_key FROM rag_retrieve(NULL, k => 1, query_vector => (SELECT avg(embedding) FROM docs_rag WHERE source_id IN (1, 5)), filter => '{"lang": "de"}');
PREPARE like_it AS SELECT source_key FROM rag_retrieve(NULL, 'docs', k => 1, query_vector => $1::text::vector);
SELECT embedding AS parking FROM docs_rag WHERE source_id = 4 \gset
EXECUTE like_it(:'parking');
SELECT d.id, r.source_key FROM docs_rag AS v JOIN docs AS d ON d.id = v.source_id, rag_retrieve(NULL, 'docs', k => 1, query_vector => v.embedding) AS r ORDER BY d.id;

-- What looks the question up in other words changes the words alone; prf moves the vector.
SELECT count(*) > 0 FROM rag_retrieve(NULL, rewrite => 'prf', query_vector => rag_embed('invoices'));
SELECT count(*), bool_and(rerank_score IS NOT NULL) FROM rag_retrieve('reset password', k => 2, rerank => 'late_interaction', query_vector => rag_embed('When are invoices sent?'));
SELECT count(*) FROM rag_retrieve(NULL, k => 9, query_vector => rag_embed('reset password'), options => '{"retrieve": {"threshold": 0.99}}');
SELECT count(*) FROM rag_retrieve(NULL, k => 3, query_vector => rag_embed('reset password'), options => '{"retrieve": {"mmr": 0.5, "dedupe": 0.9}}');

-- Other words are not asked of a language model, of which there is none here, where no words are looked up.
SELECT way, count(*) FROM unnest(ARRAY['hyde', 'multi_query', 'fusion', 'step_back', 'decompose']) AS way,
    rag_retrieve('reset password', k => 2, mode => 'dense', rewrite => way, query_vector => rag_embed('invoices')) GROUP BY way ORDER BY way;
SELECT fails($$SELECT * FROM rag_retrieve('reset password', rewrite => 'hyde', query_vector => array_fill(1, ARRAY[384])::vector)$$);

-- What cannot be asked.
SELECT fails($$SELECT * FROM rag_retrieve(NULL, query_vector => NULL)$$);
SELECT fails($$SELECT * FROM rag_retrieve(NULL, query_vector => '[1,2,3]')$$);
SELECT fails($$SELECT * FROM rag_retrieve('x', query_vector => '[1]')$$);
SELECT fails($$SELECT * FROM rag_retrieve(NULL, query_vector => array_fill(0, ARRAY[384])::vector)$$);
SELECT fails($$SELECT * FROM rag_retrieve(NULL, query_vector => array_fill(1e30::real, ARRAY[384])::vector)$$);
SELECT fails($$SELECT * FROM rag_retrieve(NULL, query_vector => array_fill(1e-22::real, ARRAY[384])::vector)$$);
SELECT count(*) FROM rag_retrieve(NULL, k => 1, query_vector => array_fill(1e-18::real, ARRAY[384])::vector);
SELECT fails($$SELECT * FROM rag_retrieve('x', mode => 'lexical', query_vector => array_fill(1, ARRAY[384])::vector)$$);
SELECT fails($$SELECT * FROM rag_retrieve(NULL, rerank => 'late_interaction', query_vector => array_fill(1, ARRAY[384])::vector)$$);
SELECT fails($$SELECT * FROM rag_retrieve(NULL, 'nowhere', query_vector => array_fill(1, ARRAY[384])::vector)$$);
SELECT rag_alter_pipeline('docs', defaults => '{"retrieve": {"mode": "lexical"}}');
SELECT fails($$SELECT * FROM rag_retrieve('x', query_vector => array_fill(1, ARRAY[384])::vector)$$);
SELECT count(*) FROM rag_retrieve('x', k => 2, mode => 'dense', query_vector => array_fill(1, ARRAY[384])::vector);
SELECT rag_alter_pipeline('docs', defaults => '{"retrieve": {"rerank": "late_interaction"}}');
SELECT fails($$SELECT * FROM rag_retrieve(NULL, query_vector => array_fill(1, ARRAY[384])::vector)$$);
SELECT count(*) FROM rag_retrieve(NULL, k => 2, rerank => 'none', query_vector => array_fill(1, ARRAY[384])::vector);
SELECT rag_alter_pipeline('docs', defaults => '{}');

-- Several pipelines of one model.
CREATE TABLE tickets (id integer PRIMARY KEY, note text);
INSERT INTO tickets VALUES (1, 'The customer has forgotten the password.'), (2, 'The parcel was left in the rain.');
SELECT rag_create_pipeline('tickets', 'note', refresh => 'sync');
SELECT pipeline, source_key FROM rag_retrieve(NULL, '{docs,tickets}', k => 2, query_vector => rag_embed('The parcel is wet.')) LIMIT 1;
SELECT count(*) = count(DISTINCT (pipeline, source_key)), count(DISTINCT pipeline) FROM rag_retrieve(NULL, '*', k => 7, query_vector => rag_embed('password'));
SELECT count(*), bool_and((a.pipeline, a.source_key) = (b.pipeline, b.source_key)) FROM rag_retrieve('forgotten password', '*', k => 7) AS a
    JOIN rag_retrieve('forgotten password', '*', k => 7, query_vector => rag_embed('forgotten password')) AS b USING (rank);
SELECT fails($$SELECT * FROM rag_retrieve(NULL, query_vector => array_fill(1, ARRAY[384])::vector)$$);
SELECT fails($$SELECT * FROM rag_retrieve(NULL, 'auto', query_vector => array_fill(1, ARRAY[384])::vector)$$);
SELECT fails($$SELECT * FROM rag_retrieve(NULL, '*', query_vector => '[1]')$$);
SELECT rag_create_pipeline('tickets', 'note', name => 'other', model => 'all-minilm-l6-v2', refresh => 'sync');
SELECT fails($$SELECT * FROM rag_retrieve('password', '{docs,other}', query_vector => array_fill(1, ARRAY[384])::vector)$$);

-- Row-level security decides what is found.
SELECT embedding::text AS german FROM docs_rag WHERE source_id = 3 \gset
SET ROLE regress_reader;
SELECT rank, dense_rank FROM rag_retrieve(NULL, 'docs', k => 1, query_vector => :'german');
SELECT count(*) FROM rag_retrieve(NULL, 'docs', k => 9, query_vector => :'german');
RESET ROLE;
SET ROLE regress_stranger;
SELECT fails(format('SELECT * FROM rag_retrieve(NULL, %L, query_vector => %L)', 'docs', :'german'));
RESET ROLE;

-- A vector that is stored out of line, or compressed.
CREATE TABLE queries (v vector, filler text) WITH (toast_tuple_target = 128);
ALTER TABLE queries ALTER COLUMN v SET STORAGE EXTERNAL;
INSERT INTO queries SELECT embedding, repeat('x', 1000) FROM docs_rag WHERE source_id = 2;
SELECT pg_relation_size(reltoastrelid) > 0 FROM pg_class WHERE oid = 'queries'::regclass;
SELECT r.source_key FROM queries, rag_retrieve(NULL, 'docs', k => 1, query_vector => v) AS r;
