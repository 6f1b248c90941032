-- Metadata that expressions make: conditions of the owner's in SQL, by which questions filter.
\set SHOW_CONTEXT never
\pset format unaligned
\pset tuples_only on
SET client_min_messages = warning;

CREATE TABLE wares (id integer PRIMARY KEY, body text, lang text, price numeric(6,2), published boolean, stock integer, note text);
INSERT INTO wares VALUES (1, 'A red lamp.', 'EN', 40, true, 3), (2, 'A blue lamp.', 'en', 90, false, 0), (3, 'A green lamp.', 'de', 250, true, 7), (4, 'A white lamp.', NULL, NULL, true, 1);
SELECT rag_create_pipeline('wares', 'body', metadata => ARRAY['lang', 'price < 100 AND published AS cheap', $$coalesce(lower(lang), 'none') AS "Language"$$, 'stock * 2 AS pairs -- of them'],
    refresh => 'manual', options => '{"backfill": "now"}');
SELECT source_id, lang, cheap, "Language", pairs FROM wares_rag ORDER BY 1;
SELECT attname, format_type(atttypid, atttypmod), col_description(attrelid, attnum) FROM pg_attribute
WHERE attrelid = 'wares_rag_chunks'::regclass AND attname IN ('lang', 'cheap', 'Language', 'pairs') ORDER BY attnum;

-- Filters test them, inside the index of the vectors too.
CREATE FUNCTION found(filter jsonb) RETURNS text LANGUAGE sql
AS $$SELECT string_agg(source_key, ' ' ORDER BY source_key) FROM rag_retrieve('lamp', 'wares', k => 10, filter => filter)$$;
CREATE FUNCTION indexed(chunks regclass) RETURNS text LANGUAGE sql
AS $$SELECT string_agg(a.attname, ' ' ORDER BY a.attnum) FROM pg_index i JOIN pg_class c ON c.oid = i.indexrelid JOIN pg_am m ON m.oid = c.relam AND m.amname = 'rag_hnsw'
     JOIN pg_attribute a ON a.attrelid = i.indrelid AND a.attnum = ANY (i.indkey) WHERE i.indrelid = chunks$$;
SELECT indexed('wares_rag_chunks');
SELECT found('{"cheap": true}'), found('{"cheap": false}'), found('{"cheap": null}'), found('{"cheap": {"ne": true}}'), found('{"Language": "en", "pairs": {"gte": 6}}');

-- A change of any column that is read reaches the chunks, which are not embedded again.
SELECT chunks_embedded AS before FROM rag.activity \gset
UPDATE wares SET price = 150 WHERE id = 1;
UPDATE wares SET published = true WHERE id = 2;
CALL rag_run('wares');
SELECT found('{"cheap": true}'), chunks_embedded - :before AS embedded FROM rag.activity;
UPDATE wares SET note = 'read by nobody';
SELECT count(*) FROM rag.intake;
SELECT rag_alter_pipeline('wares', refresh => 'sync');
UPDATE wares SET price = 20 WHERE id = 1;
SELECT found('{"cheap": true}');
SELECT rag_alter_pipeline('wares', refresh => 'manual');

-- Columns that are renamed are followed, and a new generation has the same expressions.
ALTER TABLE wares RENAME COLUMN price TO euros;
UPDATE wares SET euros = 500 WHERE id = 2;
SELECT rag_alter_pipeline('wares', chunking => '{"max_tokens": 64}');
CALL rag_run('wares');
SELECT source_id, lang, cheap, "Language", pairs FROM wares_rag ORDER BY 1;
SELECT generation, indexed('wares_rag_chunks') FROM rag.pipeline;

-- Columns that get another type are followed at once, or what is in the way is said.
ALTER TABLE wares ALTER COLUMN stock TYPE bigint USING stock * 10, ALTER COLUMN lang TYPE varchar(20);
SELECT found('{"pairs": 60}'), found('{"pairs": 140}'), found('{"Language": "en"}'), indexed('wares_rag_chunks');
SELECT attname, format_type(atttypid, atttypmod) FROM pg_attribute WHERE attrelid = 'wares_rag_chunks'::regclass AND attname IN ('lang', 'Language', 'pairs') ORDER BY attnum;
CALL rag_run('wares');
SELECT fails('ALTER TABLE wares ALTER COLUMN euros TYPE text');

-- Other ones, of which those go that read a column that goes.
SELECT rag_alter_pipeline('wares', metadata => ARRAY['euros', 'euros < 50 AS cheap', $$current_date > date '2000-01-01' AS past$$]);
CALL rag_run('wares');
SELECT source_id, euros, cheap, past FROM wares_rag WHERE cheap;
SET client_min_messages = notice;
ALTER TABLE wares DROP COLUMN euros;
SET client_min_messages = warning;
SELECT fails($$SELECT * FROM rag_retrieve('lamp', 'wares', filter => '{"cheap": true}')$$);
SELECT found('{"past": true}');

-- What is no metadata.
CREATE FUNCTION refused(metadata text) RETURNS SETOF text LANGUAGE sql
AS $$SELECT fails(format('SELECT rag_create_pipeline(''wares'', ''body'', ''other'', metadata => ARRAY[%L])', metadata))$$;
SELECT refused('colour');
SELECT refused('colour AS hue');
SELECT refused('colour = 1 AS hue');
SELECT refused('stock > 1');
SELECT refused('(SELECT count(*) FROM wares) AS n');
SELECT refused('sum(stock) AS n');
SELECT refused('row_number() OVER () AS n');
SELECT refused('generate_series(1, stock) AS n');
SELECT refused('stock > random() AS n');
SELECT refused('wares IS NULL AS n');
SELECT refused('xmin = xmin AS n');
SELECT refused('published AS seen');

-- It is one expression, whatever is written there.
SELECT refused('wares.* AS n');
SELECT refused('stock AS n, note AS m');
SELECT refused('1 AS n UNION SELECT 2, 3');
SELECT refused('stock AS n FROM secrets');
SELECT refused('stock AS n; DROP TABLE wares');
SELECT refused('stock AS n) --');
SELECT refused('stock + $1 AS n');
SELECT refused('(stock, note) AS n');

-- Its name is its own.
SELECT refused('stock + 1 AS note');
SELECT refused('stock + 1 AS content');
SELECT refused('stock + 1 AS source_id');
SELECT fails($$SELECT rag_create_pipeline('wares', 'body', 'other', metadata => ARRAY['stock + 1 AS n', 'stock + 2 AS n'])$$);
SELECT string_agg(name, ' ') FROM rag.pipeline;
SELECT count(*) FROM pg_class WHERE relname LIKE 'other%';
DROP TABLE wares CASCADE;

-- An error in it is one of the statement that embeds the row.
CREATE TABLE shares (id integer PRIMARY KEY, body text, part integer, whole integer);
INSERT INTO shares VALUES (1, 'A quarter of the cake.', 1, 4), (2, 'Half of the cake.', 1, 2);
SELECT rag_create_pipeline('shares', 'body', metadata => ARRAY['100 * part / whole AS percent'], refresh => 'sync');
SELECT fails('UPDATE shares SET whole = 0 WHERE id = 2');
UPDATE shares SET part = 2 WHERE id = 1;
SELECT source_id, percent FROM shares_rag ORDER BY 1;
