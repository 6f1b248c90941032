-- Pipelines with settings of their strategies, parents, and chunks in their context.
\set SHOW_CONTEXT never
\pset format unaligned
\pset tuples_only on
\pset null NULL
SET client_min_messages = warning;

CREATE TABLE manual (id integer PRIMARY KEY, name text, body text NOT NULL);
INSERT INTO manual VALUES
    (1, 'The press', $$The press has two rollers. They must be cleaned every evening. The last person to leave cleans them.

Ink is kept in the cellar. The oldest tin is taken first. The date is written on it.$$),
    (2, 'The mill', $$The mill has one wheel. It is greased on Mondays. The miller greases it.$$);

-- Small chunks are found, and their parents are read.
SELECT rag_create_pipeline('manual', 'body', 'nested', chunking => '{"by": "hierarchical", "max_tokens": 64, "child_tokens": 20}',
                           refresh => 'manual');
CALL rag_run('nested');
SELECT chunking, contextual FROM rag.pipeline;
SELECT source_id, chunk_no, start_char, end_char, parent_start, parent_end, content
FROM nested_rag ORDER BY source_id, chunk_no;
SELECT source_key, start_char, end_char, content FROM rag_retrieve('Where is ink kept?', k => 1);
SELECT source_key, start_char, end_char, content
FROM rag_retrieve('Where is ink kept?', k => 1, options => '{"retrieve": {"expand": "parent"}}');
-- Children of one parent are one passage, and each passage is a place in its document but for the
-- white space between chunks.
SELECT source_key, count(*), bool_and(regexp_replace(r.content, '\s+', ' ', 'g')
           = regexp_replace(substr(m.body, r.start_char + 1, r.end_char - r.start_char), '\s+', ' ', 'g'))
FROM rag_retrieve('press mill', k => 10, options => '{"retrieve": {"expand": "parent"}}') r
JOIN manual m ON m.id = r.source_key::integer GROUP BY source_key ORDER BY source_key;
-- An answer is read from parents, and its citations point into the document.
SELECT length(c ->> 'content') FROM rag_answer_details('When is the wheel greased?', 'nested', k => 1),
       jsonb_array_elements(context) c;
SELECT length(c ->> 'content') FROM rag_answer_details('When is the wheel greased?', 'nested', k => 1,
                                                       options => '{"retrieve": {"expand": "none"}}'),
       jsonb_array_elements(context) c;
SELECT c ->> 'quote' = substr(m.body, (c ->> 'start_char')::integer + 1,
                              (c ->> 'end_char')::integer - (c ->> 'start_char')::integer)
FROM rag_answer_details('When is the wheel greased?', 'nested'), jsonb_array_elements(citations) c
JOIN manual m ON m.id = (c ->> 'source_key')::integer;

-- Other settings make new chunks; those of another method are not kept.
SELECT rag_alter_pipeline('nested', chunking => '{"child_tokens": 32}');
CALL rag_run('nested');
SELECT generation, chunking, (SELECT max(token_count) FROM nested_rag) FROM rag.pipeline;
SELECT rag_alter_pipeline('nested', chunking => '{"max_tokens": 48}');
CALL rag_run('nested');
SELECT generation, chunking FROM rag.pipeline;
SELECT rag_alter_pipeline('nested', chunking => '{"by": "sentence", "max_tokens": 32}');
CALL rag_run('nested');
SELECT chunking, (SELECT count(parent_start) FROM nested_rag) FROM rag.pipeline;
SELECT fails($$SELECT * FROM rag_retrieve('ink', options => '{"retrieve": {"expand": "parent"}}')$$);
SELECT rag_drop_pipeline('nested');

-- A chunk in its context: title and headings are embedded and searched with it, and are no part of it.
SELECT rag_create_pipeline('manual', 'body', 'told', chunking => '{"by": "sentence", "max_tokens": 28}', refresh => 'manual',
                           metadata => ARRAY['name'], options => '{"contextual": true, "title": "name"}');
SELECT DISTINCT attname FROM pg_attribute
WHERE attrelid IN ('told_rag'::regclass, 'told_rag_chunks'::regclass, 'told_rag_content'::regclass)
  AND attnum > 0 AND NOT attisdropped AND col_description(attrelid, attnum) IS NULL ORDER BY 1;
CALL rag_run('told');
SELECT source_id, chunk_no, context, content FROM told_rag_chunks ORDER BY source_id, chunk_no;
SELECT source_key, content FROM rag_retrieve('mill', k => 1, mode => 'lexical');
-- What is embedded is title and text.
SELECT max(embedding <=> rag_embed(context || E'\n' || content, kind => 'passage')) < 0.001 FROM told_rag_chunks;
-- A title that changes makes other vectors of the same texts.
CREATE TABLE before AS SELECT chunk_no, content, content_hash FROM told_rag_chunks WHERE source_id = 2;
UPDATE manual SET name = 'The kiln' WHERE id = 2;
CALL rag_run('told');
SELECT count(*), bool_and(c.content = b.content), bool_and(c.content_hash <> b.content_hash), min(context)
FROM told_rag_chunks c JOIN before b USING (chunk_no) WHERE source_id = 2;
-- A title is an expression as well, and what a pipeline has can be taken away again.
SELECT rag_alter_pipeline('told', options => '{"title": "upper(name)"}');
CALL rag_run('told');
SELECT DISTINCT context FROM told_rag_chunks ORDER BY 1;
-- What answers reads it, too.
SELECT content ~ 'THE KILN' AS is_read FROM rag_prompt('Which kiln?', 'told', k => 20) WHERE role = 'user';
ALTER TABLE manual RENAME name TO label;
SELECT rag_alter_pipeline('told', chunking => '{"max_tokens": 32}');
CALL rag_run('told');
SELECT DISTINCT context, label FROM told_rag_chunks ORDER BY 1;
SELECT rag_alter_pipeline('told', options => '{"contextual": false}');
CALL rag_run('told');
SELECT DISTINCT context FROM told_rag_chunks;
SELECT contextual FROM rag.pipeline;
SELECT rag_drop_pipeline('told');

-- Without a title the first heading is one.
CREATE TABLE pages (id integer PRIMARY KEY, body text);
INSERT INTO pages VALUES (1, E'# Press\n\nTwo rollers.\n\n## Ink\n\nIn the cellar.'), (2, 'No heading.');
SELECT rag_create_pipeline('pages', 'body', chunking => '{"by": "markdown"}', refresh => 'sync', options => '{"contextual": true}');
SELECT source_id, context, heading, content FROM pages_rag_chunks ORDER BY source_id, chunk_no;
SELECT rag_drop_pipeline('pages');

-- A chunk and its context together are not longer than the model reads.
INSERT INTO pages VALUES (3, repeat('word ', 1000));
SELECT rag_create_pipeline('pages', 'body', refresh => 'sync', chunking => '{"max_tokens": 512}', options => '{"contextual": true}');
SELECT chunking->'max_tokens' AS max_tokens FROM rag.pipeline;
SELECT max(token_count) FROM pages_rag_chunks;
SELECT rag_drop_pipeline('pages');

-- With a language model there is a line more; the model is asked later, so this is done without a call.
CREATE SERVER writer FOREIGN DATA WRAPPER rag_llm OPTIONS (base_url 'http://127.0.0.1:9/v1', model 'm');
SELECT rag_create_pipeline('pages', 'body', options => '{"contextual": {"llm": "writer"}, "backfill": "background"}',
                           refresh => 'manual');
SELECT contextual, kind, d.options, relation FROM rag.pipeline AS p JOIN rag.derivation AS d ON d.pipeline = p.id;
SELECT obj_description(relation, 'pg_class'), (SELECT count(col_description(attrelid, attnum)) FROM pg_attribute WHERE attrelid = relation AND attnum > 0)
FROM rag.derivation;
SELECT rag_alter_pipeline('pages', options => '{"contextual": {"llm": "writer", "template": "situate@0"}}');
SELECT generation, kind, d.options, relation
FROM rag.pipeline AS p JOIN rag.derivation AS d ON d.pipeline = p.id ORDER BY generation;
SELECT pipeline, generation, kind, llm, relation, state, missing, done, empty FROM rag.derivation_status;
SELECT fails($$SELECT rag_alter_pipeline('pages', refresh => 'sync')$$);
SELECT fails($$SELECT rag_alter_pipeline('pages', chunking => '{"late": true}')$$);
SELECT fails($$SELECT rag_alter_pipeline('pages', options => '{"contextual": "llm"}')$$);
SELECT fails($$SELECT rag_alter_pipeline('pages', options => '{"contextual": {"llm": "nowhere"}}')$$);
SELECT fails($$SELECT rag_alter_pipeline('pages', options => '{"contextual": {"llm": "writer", "template": "none"}}')$$);
SELECT fails($$SELECT rag_alter_pipeline('pages', options => '{"contextual": {"server": "writer"}}')$$);
SELECT fails($$SELECT rag_alter_pipeline('pages', options => '{"contextual": "yes"}')$$);
SELECT rag_drop_pipeline('pages');
SELECT count(*) FROM pg_class WHERE relname LIKE 'pages_rag%';
SELECT fails($$SELECT rag_create_pipeline('pages', 'body', refresh => 'sync', options => '{"contextual": {"llm": "writer"}}')$$);
SELECT fails($$SELECT rag_create_pipeline('pages', 'body', chunking => '{"late": true}', options => '{"contextual": {"llm": "writer"}}')$$);
SELECT fails($$SELECT rag_create_pipeline('pages', 'body', options => '{"contextual": "llm"}')$$);
DROP SERVER writer;

-- HTML in a column of text, and pages of files.
DELETE FROM pages;
INSERT INTO pages VALUES (1, '<h1>Press</h1><nav>Home</nav><p>Two <b>rollers</b>.');
SELECT rag_create_pipeline('pages', 'body', chunking => '{"by": "html"}', refresh => 'sync');
SELECT heading, start_char, end_char, content FROM pages_rag;
SELECT rag_drop_pipeline('pages');
CREATE TABLE files (id integer PRIMARY KEY, file bytea);
INSERT INTO files VALUES (1, convert_to('<h1>Press</h1><nav>Home</nav><p>Two <b>rollers</b>.', 'UTF8')), (2, convert_to($$%PDF-1.4
1 0 obj << /Type /Catalog /Pages 2 0 R >> endobj
2 0 obj << /Type /Pages /Kids [4 0 R 6 0 R 7 0 R] /Count 3 /MediaBox [0 0 595 842] >> endobj
3 0 obj << /Type /Font /Subtype /Type1 /BaseFont /Helvetica >> endobj
4 0 obj << /Type /Page /Parent 2 0 R /Contents 5 0 R /Resources << /Font << /F 3 0 R >> >> >> endobj
5 0 obj << /Length 62 >> stream
BT /F 10 Tf 72 750 Td (The press has two rollers.) Tj ET     
endstream endobj
6 0 obj << /Type /Page /Parent 2 0 R /Resources << /Font << /F 3 0 R >> >> >> endobj
7 0 obj << /Type /Page /Parent 2 0 R /Contents 5 0 R /Resources << /Font << /F 3 0 R >> >> >> endobj
trailer << /Size 8 /Root 1 0 R >>
%%EOF$$, 'UTF8'));
SELECT rag_create_pipeline('files', 'file', chunking => '{"by": "html"}', refresh => 'sync');
SELECT source_id, heading, content FROM files_rag ORDER BY source_id;
SELECT rag_drop_pipeline('files');
SELECT rag_create_pipeline('files', 'file', chunking => '{"by": "page"}', refresh => 'sync');
SELECT source_id, heading, start_char, end_char, content FROM files_rag ORDER BY source_id, chunk_no;
SELECT rag_drop_pipeline('files');

-- What cannot be done.
SELECT fails($$SELECT rag_create_pipeline('pages', 'body', chunking => '{"percentile": 90}')$$);
SELECT fails($$SELECT rag_create_pipeline('pages', 'body', chunking => '{"by": "code", "lang": "c"}')$$);
SELECT fails($$SELECT rag_create_pipeline('pages', 'body', options => '{"title": "body", "contextual": false}')$$);
SELECT fails($$SELECT rag_create_pipeline('pages', 'body', options => '{"contextual": true, "title": "id"}')$$);
SELECT fails($$SELECT rag_create_pipeline('pages', 'body', options => '{"contextual": true, "title": "a, b"}')$$);
SELECT fails($$SELECT rag_create_pipeline('pages', 'body', options => '{"contextual": true, "title": "count(*)"}')$$);
SELECT fails($$SELECT rag_create_pipeline('pages', 'body', chunking => '{"by": "hierarchical", "max_tokens": 600, "child_tokens": 520}')$$);
SELECT rag_create_pipeline('pages', 'body', chunking => '{"by": "hierarchical", "max_tokens": 600}', refresh => 'sync');
SELECT fails($$SELECT rag_alter_pipeline('pages', chunking => '{"by": "recursive", "child_tokens": 20}')$$);
SELECT fails($$SELECT rag_alter_pipeline('pages', options => '{"title": "body", "contextual": false}')$$);
