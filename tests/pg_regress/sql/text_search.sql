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
     unnest(ARRAY['', 'the', 'The quick brown foxes, don''t they?', 'a-b-c -1.5e3 10.0.0.1 2024/12/31 <a href="a_bc/d">text</a>',
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

-- Names with hyphens, units and signs are found however they are written; a query asks for what PostgreSQL makes of it.
SELECT document, question, rag_to_tsvector('english', document) @@ rag_question_to_tsquery('english', question)
FROM (VALUES ('Shows E-1042.', '1042'), ('Shows E-1042.', 'E1042'), ('Shows E1042.', 'E-1042'), ('Call 910-005544.', '910005544'), ('Call 910005544.', '910-005544'),
             ('ISBN 978-3-16-148410-0', '9783161484100'), ('ISBN 978-3-16-148410-0', '148410'), ('On 2024-05-01.', '05'), ('On 2024-05-01.', '20240501'), ('The wi-fi is slow.', 'wifi'),
             ('The wifi is slow.', 'Wi-Fi'), ('Two T-shirts.', 'tshirt'), ('A micro-USB plug.', 'microusb'), ('Release v2.1.4.', '2.1.4'), ('Release 2.1.4.', 'v2.1.4'),
             ('A 10 mm bolt.', '10mm'), ('A 10mm bolt.', '10 mm'), ('Screw M8 x 40.', 'm8x40'), ('Screw M8x40.', 'M8 x 40'), ('Write to support@example.com.', 'support'),
             ('From 5-10.', '510'), ('From 5-10.', '10'), ('At -7 degrees.', '7')) AS v (document, question);
SELECT rag_to_tsvector('simple', 'C++, C# and .NET'), rag_to_tsquery('simple', 'E-1042') = to_tsquery('simple', 'E-1042') AS same,
       rag_to_tsvector('simple', 'code E-1042 here') @@ to_tsquery('simple', 'e <-> 1042 <-> here') AS number, rag_to_tsvector('simple', 'code E-1042 here') @@ websearch_to_tsquery('simple', 'E-1042 here') AS name;
-- Two stop words are no other word together.
SELECT rag_to_tsvector('french', 'est-ce') = to_tsvector('french', 'est-ce') AS same, rag_to_tsvector('french', 'week-end') @@ rag_question_to_tsquery('french', 'weekend') AS found;
CREATE TABLE tongues (id integer PRIMARY KEY, tsv tsvector);
INSERT INTO tongues VALUES (1, rag_to_tsvector('simple', 'C# is a language')), (2, rag_to_tsvector('simple', 'C++ is a language')), (3, rag_to_tsvector('simple', 'F# is a language')), (4, rag_to_tsvector('simple', 'the .NET platform')), (5, rag_to_tsvector('simple', 'the net is wide'));
CREATE INDEX tongues_tsv ON tongues USING rag_bm25 (tsv);
SELECT q, (SELECT id FROM tongues, rag_question_to_tsquery('simple', q) AS asked WHERE tsv @@ asked ORDER BY tsv <@> rag_bm25_query('tongues_tsv', asked) LIMIT 1)
FROM unnest(ARRAY['c++', 'C#', 'f#', '.NET']) AS q;
DROP TABLE tongues;

-- Words with accents are found with and without them: a text has both, and a query asks without.
SELECT config, rag_to_tsvector(config, 'Über die Straße zum Café'), rag_to_tsquery(config, 'STRASSE & café'), rag_question_to_tsquery(config, 'Où est le café à Łódź?')
FROM unnest(ARRAY['simple', 'german', 'english']::regconfig[]) AS config ORDER BY config::text;
SELECT text, rag_to_tsvector('simple', text), rag_websearch_to_tsquery('simple', text) FROM unnest(ARRAY['ёлка за мостом', 'й', 'مُعَلِّم أحمد', 'Αθήνα', 'हिन्दी', 'đường']) AS text;

-- A number is found however it is written.
SELECT written, asked, rag_to_tsvector('simple', written) @@ rag_question_to_tsquery('simple', asked) AS question, rag_to_tsvector('simple', written) @@ rag_to_tsquery('simple', asked) AS query
FROM (VALUES ('From $1,250.00 on', '1250'), ('ab 1.250,00 €', '1250'), ('1 250 €', '1250'), ('1.250', '1250'), ('12,50', '12.50'), ('नियम २४', '24'), ('يوم ٢٧', '27'), ('ใน๑๒วัน', '12'), ('１万２千円', '12000'), ('1,250', '1350'), ('4.1.3', '413')) AS numbers (written, asked);

-- It is found where a stemmer knows it only with them, whichever of both is indexed, in decomposed form, with characters that are not seen,
-- and in either of two spellings of its language.
SELECT config, asked, rag_to_tsvector(config, text) @@ rag_question_to_tsquery(config, asked) AS question, rag_to_tsvector(config, asked) @@ rag_question_to_tsquery(config, text) AS other_way,
       rag_to_tsvector(config, text) @@ rag_to_tsquery(config, asked) AS query, rag_to_tsvector(config, text) @@ rag_websearch_to_tsquery(config, asked) AS websearch
FROM (VALUES ('spanish'::regconfig, 'información', 'informacion'), ('spanish', 'reservación', 'reservacion'), ('french', 'employés', 'employes'), ('french', 'payés', 'payes'),
             ('french', 'validée', 'validee'), ('portuguese', 'informações', 'informacoes'), ('portuguese', 'português', 'portugues'), ('hungarian', 'munkáltató', 'munkaltato'),
             ('french', U&'conge\0301s', 'congés'), ('spanish', U&'di\0301as', 'días'), ('finnish', U&'lomapa\0308iva\0308a\0308', 'lomapäivää'), ('greek', U&'κωδικο\0301ς', 'κωδικός'),
             ('russian', U&'и\0306огурт', 'йогурт'), ('german', 'ﬂuss', 'Fluss'), ('german', U&'Kran\00ADken\00ADhaus', 'Krankenhaus'), ('english', U&'zero\200Bwidth', 'zerowidth'),
             ('hindi', 'हिन्दी', 'हिंदी'), ('hindi', 'ज़रूरी', 'जरूरी'), ('arabic', 'والمكتبة', 'المكتبه'), ('simple', 'کتابی', 'كتابي'), ('english', 'Straße', 'STRASSE')) AS words (config, text, asked);
-- In phrases, too; a stop word with an accent stays one; and what was indexed before is found as it was.
SELECT rag_to_tsquery('spanish', 'información <-> pública'), rag_to_tsvector('spanish', 'informacion publica') @@ rag_to_tsquery('spanish', 'información <-> pública') AS typed,
       rag_to_tsvector('spanish', 'información pública') @@ rag_websearch_to_tsquery('spanish', '"informacion publica"') AS written, rag_to_tsvector('spanish', 'pública información') @@ rag_to_tsquery('spanish', 'información <-> pública') AS turned;
SELECT rag_to_tsvector('german', 'für größere Häuser'), rag_question_to_tsquery('german', 'für Häuser'), to_tsvector('spanish', 'informaciones') @@ rag_question_to_tsquery('spanish', 'información') AS before;

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

-- Its configuration is that of the language of most of its texts.
CREATE TABLE szabadsag (id integer PRIMARY KEY, body text);
INSERT INTO szabadsag VALUES (1, 'A dolgozónak évente húsz nap szabadság jár, és a kérelmet a portálon kell beadni.'), (2, 'A munkáltató öt napon belül dönt, és erről értesíti a dolgozót.');
CREATE TABLE lomat (id integer PRIMARY KEY, body text);
INSERT INTO lomat VALUES (1, 'Työntekijällä on kolmekymmentä lomapäivää, ja loma haetaan esimieheltä.'), (2, 'Kesällä loma on kuitenkin sovittava, kun se alkaa.');
CREATE TABLE zbozi (id integer PRIMARY KEY, body text);
INSERT INTO zbozi VALUES (1, 'Zboží můžete vrátit do čtrnácti dnů, pokud nebylo použito.');
SELECT rag_create_pipeline('szabadsag', 'body');
SELECT rag_create_pipeline('lomat', 'body');
SELECT rag_create_pipeline('zbozi', 'body');
SELECT name, config FROM rag.pipeline WHERE name IN ('szabadsag', 'lomat', 'zbozi') ORDER BY name;
SELECT (SELECT source_key FROM rag_retrieve('lomapäivät', 'lomat', k => 1, mode => 'lexical')) AS lomat, (SELECT source_key FROM rag_retrieve('munkaltato', 'szabadsag', k => 1, mode => 'lexical')) AS szabadsag;
