-- rag_to_tsvector, rag_to_tsquery, rag_websearch_to_tsquery, rag_question_to_tsquery: words of scripts without spaces.
\set SHOW_CONTEXT never
\pset format unaligned
\pset tuples_only on
SET client_min_messages = warning;

-- Chinese, Japanese, Korean, Thai, Lao, Burmese, Khmer; alone, mixed, and in other forms.
SELECT text, rag_to_tsvector('simple', text) FROM unnest(ARRAY['数据库', '库', 'PostgreSQL数据库2024年', 'データベースを使う', 'ﾃﾞｰﾀＢ', '데이터베이스 서버', 'ภาษาไทย', 'ພາສາລາວ', 'မြန်မာ', 'ភាសាខ្មែរ', '数据，库', '', '。']) AS text;
-- A language's own words, in the same text: stems, stop words and their places, hosts and numbers.
SELECT rag_to_tsvector('english', 'Databases of the 数据库 at example.com, 3.5万 of them');

-- Text without such scripts, accents and joined names has the tsvector and the tsquery that PostgreSQL makes of it.
SELECT config, count(*), bool_and(rag_to_tsvector(config, text) = to_tsvector(config, text)) AS tsvector,
       bool_and(rag_websearch_to_tsquery(config, text) = websearch_to_tsquery(config, text)) AS websearch,
       bool_and(rag_to_tsquery(config, quote_literal(text) || ':*A') = to_tsquery(config, quote_literal(text) || ':*A')) FILTER (WHERE text <> '') AS tsquery
FROM unnest(ARRAY['simple', 'english', 'german', 'russian', 'arabic', 'hindi']::regconfig[]) AS config,
     unnest(ARRAY['', 'the', 'The quick brown foxes, don''t they?', 'a-b-c foo-bar -1.5e3 10.0.0.1 2024/12/31 <a href="a_bc/d">text</a>',
                  'Привет, мой мир', 'مرحبا بالعالم', 'नमस्ते दुनिया', 'white "two words" -not or this', E'tab\tand\nline <b>tag</b> &amp;', repeat('word the ', 200), 'x' || repeat('y', 3000)]) AS text
GROUP BY config ORDER BY config::text;
SELECT rag_to_tsvector('english', repeat('word the ', 20000)) = to_tsvector('english', repeat('word the ', 20000)) AS same;
SELECT to_tsquery('english', q) = rag_to_tsquery('english', q) AS same, rag_to_tsquery('english', q)
FROM unnest(ARRAY['cats & (dogs | !the) & ''big foxes'':*B <2> bird', 'the', 'a <-> the <-> cat', '''the cats of the'' <-> dogs']) AS q;

-- Names joined by signs are found whole, by their last part and by their words; a query asks for what PostgreSQL makes of it.
SELECT text, rag_to_tsvector('english', text), rag_question_to_tsquery('english', text), rag_websearch_to_tsquery('english', text) = websearch_to_tsquery('english', text) AS same
FROM unnest(ARRAY['`rag_hnsw.ef_search`', 'input/output', 'numpy.Array()', 'and/or', 'docs/Size_max.md', 'Größe_maß', 'https://example.com/a_bc?d=e', 'user@example.com', '数据_库 x_yz', 'x_' || repeat('yz', 80)]) AS text;
SELECT rag_to_tsvector('simple', 'before work_mem after'), rag_to_tsvector('simple', 'before work_mem after') @@ to_tsquery('simple', 'before <-> work <-> mem <-> after') AS phrase,
       rag_to_tsvector('simple', 'before a.bc/de.fg after') @@ to_tsquery('simple', 'before <-> ''a.bc/de.fg'' <-> after') AS file;

-- Words with accents are found with and without them: a text has both, and a query asks without.
SELECT config, rag_to_tsvector(config, 'Über die Straße zum Café'), rag_to_tsquery(config, 'STRASSE & café'), rag_question_to_tsquery(config, 'Où est le café à Łódź?')
FROM unnest(ARRAY['simple', 'german', 'english']::regconfig[]) AS config ORDER BY config::text;
SELECT text, rag_to_tsvector('simple', text), rag_websearch_to_tsquery('simple', text) FROM unnest(ARRAY['ёлка за мостом', 'й', 'مُعَلِّم أحمد', 'Αθήνα', 'हिन्दी', 'đường']) AS text;

-- Queries: characters without a space are a phrase, one alone is the beginning of a pair.
SELECT q, rag_to_tsquery('simple', q) FROM unnest(ARRAY['数据库', '库', '数据库:*A & !全文', '数据库 <-> 管理系统', '''PostgreSQL数据库''', '库 <-> 存', '数据　|　文', 'ＳＱＬ:*', '''，''']) AS q;
SELECT q, rag_websearch_to_tsquery('english', q) FROM unnest(ARRAY['数据库 教程', '"数据库 管理系统" -全文', 'the databases の使い方 or ภาษา', '全文　検索', '']) AS q;
SELECT q, rag_question_to_tsquery('english', q) FROM unnest(ARRAY['数据库的数据在哪里？', 'How do databases in 3月 work? Databases!', 'the', '', E'it''s \\ 库']) AS q;

-- What is found is what holds the characters in this order: phrases, prefixes and labels, over the index and without.
CREATE TABLE notes (id integer PRIMARY KEY, body text, tsv tsvector GENERATED ALWAYS AS (setweight(rag_to_tsvector('english', body), 'B')) STORED);
INSERT INTO notes (id, body) VALUES
    (1, '关系数据库管理系统使用表格。'), (2, '数据仓库存放历史数据，库房在二楼。'), (3, '猫が好きです。データベースを使う。'),
    (4, 'ฐานข้อมูลเก็บข้อมูลของลูกค้า'), (5, '데이터베이스는 서버에 있다.'), (6, 'PostgreSQL数据库 runs on servers since 1996年。'), (7, 'The servers run.'), (8, NULL),
    (9, 'Le café de la rue Général Łukasz'), (10, 'The cafe in General Lukasz street');
CREATE INDEX notes_tsv ON notes USING rag_bm25 (tsv);
CREATE FUNCTION found(asked tsquery, by_index boolean) RETURNS integer[] LANGUAGE plpgsql AS $$
DECLARE found integer[];
BEGIN
    PERFORM set_config('enable_seqscan', (NOT by_index)::text, true), set_config('enable_indexscan', by_index::text, true), set_config('enable_bitmapscan', by_index::text, true);
    SELECT array_agg(id ORDER BY id) INTO found FROM notes WHERE tsv @@ asked;
    RETURN found;
END $$;
SELECT q, found(rag_to_tsquery('english', q), true) AS ids, found(rag_to_tsquery('english', q), true) IS NOT DISTINCT FROM found(rag_to_tsquery('english', q), false) AS same
FROM unnest(ARRAY['数据库', '数据', '数据库:B', '数据库:A', '库', '库房', '系统', '系统 <-> 使用', '数据库 <-> 管理', '数据库 <-> 系统', '猫', '猫 & データ', 'ﾃﾞｰﾀﾍﾞｰｽ', 'ข้อมูล', 'ลูกค้า & ฐาน', '데이터베이스', '베이', 'postgresql <-> 数据库', 'PostgreSQL数据库', '数据库 <-> runs', '1996 <-> 年', '年', 'server & !数据', '!库', '数据:* & 二:*']) AS q;
SELECT q, found(rag_websearch_to_tsquery('english', q), true) FROM unnest(ARRAY['"cafe general"', 'café général', '"general lukasz"', '"Général Łukasz" -street', '"数据库 runs"', '数据 -管理', '"管理 数据"', '数据库 server', 'ลูกค้า or 好き']) AS q;
-- What PostgreSQL's own functions make of a word still finds what is written so.
SELECT q, found(to_tsquery('english', q), true), found(rag_to_tsquery('english', q), true) FROM unnest(ARRAY['café', 'cafe', 'général & !rue']) AS q;
-- Ranking.
SELECT q, (SELECT array_agg(id) FROM (SELECT id FROM notes WHERE tsv @@ asked ORDER BY tsv <@> rag_bm25_query('notes_tsv', asked) LIMIT 2) AS best)
FROM unnest(ARRAY['数据库管理有哪些系统？', '谁在用PostgreSQL？', 'データベースの使い方', 'ข้อมูลของลูกค้าอยู่ที่ไหน', '데이터베이스는 어디에 있나요?', '猫?', 'Where do servers run?']) AS q, LATERAL (SELECT rag_question_to_tsquery('english', q) AS asked) AS a;

-- A configuration with a parser of its own is left to it.
CREATE TEXT SEARCH PARSER own (START = prsd_start, GETTOKEN = prsd_nexttoken, END = prsd_end, LEXTYPES = prsd_lextype);
CREATE TEXT SEARCH CONFIGURATION own (PARSER = own);
ALTER TEXT SEARCH CONFIGURATION own ADD MAPPING FOR word WITH simple;
SELECT rag_to_tsvector('own', '数据库') = to_tsvector('own', '数据库') AS same, rag_question_to_tsquery('own', '数据库');

-- NULL, much text, and text that is too much or not a query.
SELECT rag_to_tsvector(NULL, 'x') IS NULL, rag_to_tsvector('simple', NULL) IS NULL, rag_to_tsquery('simple', NULL) IS NULL, rag_websearch_to_tsquery(NULL, 'x') IS NULL, rag_question_to_tsquery('simple', NULL) IS NULL;
SELECT length(rag_to_tsvector('simple', repeat('数据库', 100000))), length(rag_to_tsvector('simple', 'ก' || repeat(chr(3656), 100000)));
SELECT fails($$SELECT rag_to_tsvector('simple', string_agg(chr(19968 + (hashint4(i) & 16383)), '')) FROM generate_series(1, 300000) AS i$$);
SELECT fails($$SELECT rag_to_tsquery('simple', '数据库 文')$$);
SELECT fails($$SELECT rag_to_tsvector('nothing', 'x')$$);
SELECT fails($$SELECT rag_to_tsvector(0::oid::regconfig, '库')$$);

-- In a pipeline, without a word of configuration.
CREATE TABLE docs (id integer PRIMARY KEY, body text);
INSERT INTO docs SELECT id, body FROM notes WHERE id < 8;
SELECT rag_create_pipeline('docs', 'body');
SELECT q, (SELECT source_key FROM rag_retrieve(q, k => 1, mode => 'lexical'))
FROM unnest(ARRAY['数据库管理有哪些系统？', '库房在几楼？', 'データベースの使い方', 'ข้อมูลของลูกค้าอยู่ที่ไหน', '데이터베이스는 어디에 있나요?', '猫', 'Where do the servers run?', '？']) AS q;
SELECT source_id FROM docs_rag WHERE tsv @@ rag_to_tsquery('english', '猫が好き');
