-- Filters of rag_retrieve: each operator beside the condition that says the same in SQL.
\set SHOW_CONTEXT never
\pset format unaligned
\pset tuples_only on
SET client_min_messages = warning;

CREATE DOMAIN colour AS text CHECK (VALUE <> '');
CREATE DOMAIN mark AS varchar(2);
CREATE TABLE docs (id integer PRIMARY KEY, body text, lang text, year integer, tags text[], sizes integer[], more jsonb, old json, hue colour, "or" boolean, code varchar(2), flag char(3), price numeric(4,1), mark mark);
INSERT INTO docs
SELECT n, 'Text number ' || n, (ARRAY['en', 'de', 'EN_us', NULL])[1 + n % 4], nullif(2015 + n % 10, 2019),
    CASE n % 5 WHEN 0 THEN NULL WHEN 1 THEN '{}' WHEN 2 THEN '{a}' WHEN 3 THEN '{a,b}' ELSE '{"c d",b}' END::text[],
    CASE n % 3 WHEN 0 THEN NULL WHEN 1 THEN ARRAY[n, 7] ELSE ARRAY[n] END,
    CASE n % 6 WHEN 0 THEN NULL WHEN 1 THEN '{"size": null}' WHEN 2 THEN '{"size": 10, "of": ["x", {"y": 2}]}' WHEN 3 THEN '{"size": "10", "of": "x"}' WHEN 4 THEN '{"size": 9.5, "of": ["z"]}' ELSE '[1, "x"]' END::jsonb,
    CASE n % 2 WHEN 0 THEN '{"size": 2}' ELSE NULL END::json, CASE n % 3 WHEN 0 THEN 'red' WHEN 1 THEN 'blue' ELSE NULL END, n % 2 = 0, 'c' || n % 3, 'f' || n % 2, n + 0.5, 'c' || n % 3
FROM generate_series(1, 60) AS n;
SELECT rag_create_pipeline('docs', 'body', metadata => ARRAY['lang', 'year', 'tags', 'sizes', 'more', 'old', 'hue', 'or', 'code', 'flag', 'price', 'mark']);

-- What a filter keeps, and what is wrong: nothing, or how many rows it has too many or lacks.
CREATE FUNCTION kept(filter jsonb) RETURNS SETOF integer LANGUAGE sql AS $$
    SELECT source_key::integer FROM rag_retrieve('a text', k => 100, mode => 'dense', filter => filter, options => '{"retrieve": {"candidates": 100}}')
$$;
CREATE FUNCTION compared(filter jsonb, condition text) RETURNS text LANGUAGE plpgsql AS $$
DECLARE found integer; missing integer; surplus integer;
BEGIN
    EXECUTE format('WITH kept AS MATERIALIZED (SELECT kept(%L) AS id), wanted AS MATERIALIZED (SELECT id FROM docs WHERE %s)
        SELECT (SELECT count(*) FROM kept), (SELECT count(*) FROM (TABLE wanted EXCEPT TABLE kept) m), (SELECT count(*) FROM (TABLE kept EXCEPT TABLE wanted) s)', filter, condition)
    INTO found, missing, surplus;
    RETURN format('%s%s', found, CASE WHEN missing + surplus > 0 THEN format(', %s are missing, %s too many', missing, surplus) END);
END $$;
SELECT filter, compared(filter::jsonb, condition) FROM (VALUES
    (1, '{}', 'true'),
    (2, '{"lang": {"nin": ["en", "de"]}}', $$lang IS NULL OR lang NOT IN ('en', 'de')$$),
    (3, '{"lang": {"nin": ["en", null]}}', $$lang <> 'en'$$),
    (4, '{"lang": {"nin": []}}', 'true'),
    (5, '{"year": {"between": [2017, 2020]}}', 'year BETWEEN 2017 AND 2020'),
    (6, '{"year": {"between": [2020, 2017]}}', 'false'),
    (7, '{"lang": {"like": "e%"}}', $$lang LIKE 'e%'$$),
    (8, '{"lang": {"ilike": "e%"}}', $$lang ILIKE 'e%'$$),
    (9, '{"lang": {"like": "EN\\_%"}}', $$lang LIKE 'EN\_%'$$),
    (10, '{"hue": {"like": "r_d"}}', $$hue LIKE 'r_d'$$),
    (11, '{"not": {"lang": {"like": "e%"}}}', $$(lang LIKE 'e%') IS NOT TRUE$$),
    (12, '{"or": true}', '"or"'),
    (13, '{"$or": [{"year": 2015}, {"lang": "de", "tags": "a"}]}', $$year = 2015 OR (lang = 'de' AND 'a' = ANY (tags))$$),
    (14, '{"$or": []}', 'false'),
    (15, '{"and": [{"year": {"gt": 2016}}, {"$or": [{"lang": null}, {"not": {"year": {"lt": 2020}}}]}]}', 'year > 2016 AND (lang IS NULL OR (year < 2020) IS NOT TRUE)'),
    (16, '{"tags": "a"}', $$'a' = ANY (tags)$$),
    (17, '{"tags": ["a", "c d"]}', $$tags && '{a,c d}'$$),
    (18, '{"tags": {"contains": ["b", "a"]}}', $$tags @> '{a,b}'$$),
    (19, '{"tags": {"any": ["x", "b"]}}', $$tags && '{x,b}'$$),
    (20, '{"tags": {"nin": ["a"]}}', $$(tags && '{a}') IS NOT TRUE$$),
    (21, '{"tags": {"eq": ["a", "b"]}}', $$tags = '{a,b}'$$),
    (22, '{"tags": {"ne": []}}', $$tags IS DISTINCT FROM '{}'$$),
    (23, '{"tags": null}', 'tags IS NULL'),
    (24, '{"sizes": 7}', '7 = ANY (sizes)'),
    (25, '{"sizes": {"any": [7, "8"]}}', 'sizes && ARRAY[7, 8]'),
    (26, '{"more.size": 10}', $$more->'size' = '10'$$),
    (27, '{"more.size": "10"}', $$more->>'size' = '10' AND jsonb_typeof(more->'size') = 'string'$$),
    (28, '{"more.size": {"gte": 9.5}}', $$jsonb_typeof(more->'size') = 'number' AND (more->'size') >= '9.5'$$),
    (29, '{"more.size": {"lt": "2"}}', $$jsonb_typeof(more->'size') = 'string' AND more->>'size' < '2'$$),
    (30, '{"more.size": null}', $$more->>'size' IS NULL$$),
    (31, '{"more.size": {"ne": null}}', $$more->>'size' IS NOT NULL$$),
    (32, '{"more.size": [10, null]}', $$more->>'size' IS NULL OR more->'size' = '10'$$),
    (33, '{"more.size": {"ne": 10}}', $$(more->'size') IS DISTINCT FROM '10'$$),
    (34, '{"more.size": {"like": "1%"}}', $$more->>'size' LIKE '1%' AND jsonb_typeof(more->'size') = 'string'$$),
    (35, '{"more": {"contains": {"of": ["x"]}}}', $$more @> '{"of": ["x"]}'$$),
    (36, '{"more.of": {"any": ["z", "x"]}}', $$more->'of' @> '"x"' OR more->'of' @> '"z"'$$),
    (37, '{"more.of.1.y": 2}', $$more #> '{of,1,y}' = '2'$$),
    (38, '{"old.size": 2}', $$old->>'size' = '2'$$),
    (39, '{"hue": ["red"]}', $$hue = 'red'$$),
    (40, '{"id": [1, 2, 99]}', 'id IN (1, 2, 99)'),
    (42, '{"code": "c1"}', $$code = 'c1'$$),
    (43, '{"code": ["c1x", "c12"]}', 'false'),
    (44, '{"flag": "f1"}', $$flag = 'f1'$$),
    (45, '{"flag": {"ne": "f1"}}', $$flag <> 'f1'$$),
    (46, '{"price": {"lt": 9.54}}', 'price < 9.54'),
    (47, '{"price": {"lt": 100000}}', 'true'),
    (49, '{"mark": ["c1", "c2"]}', $$mark IN ('c1', 'c2')$$),
    (50, '{"hue": ""}', 'false'),
    (51, '{"mark": "c1x"}', 'false'),
    (52, '{"sizes": 7.0}', '7 = ANY (sizes)'),
    (53, '{"tags": ["a", null]}', $$tags && '{a}' OR tags IS NULL$$),
    (54, '{"tags": {"nin": ["a", null]}}', $$NOT tags && '{a}'$$),
    (55, '{"tags": [null]}', 'tags IS NULL'),
    (56, '{"year": {"in": [2015.0, 20.5, null]}}', 'year IS NULL OR year = 2015'),
    (57, '{"more": {"ilike": "%x%"}}', 'false'),
    (58, '{"more.of": {"ilike": "X"}}', $$more->>'of' ILIKE 'X' AND jsonb_typeof(more->'of') = 'string'$$),
    (41, '{"id": {"gt": 40}, "lang": "de"}', $$id > 40 AND lang = 'de'$$)
) AS f (n, filter, condition) ORDER BY n;

-- All ways to search keep the same.
SELECT mode, count(*), bool_and(metadata->'tags' ? 'a' AND metadata->>'lang' <> 'de')
FROM unnest(ARRAY['dense', 'lexical', 'hybrid']) AS mode, rag_retrieve('text number', k => 100, mode => mode, filter => '{"tags": "a", "not": {"lang": ["de", null]}}', options => '{"retrieve": {"candidates": 100}}')
GROUP BY mode ORDER BY mode;

-- Values stay values.
SELECT count(*) FROM kept('{"lang": {"like": "'' OR true --"}, "tags": "\"},{\"a", "more.''; DROP TABLE docs; --": 1}');

-- An error is of the filter, and names key and value.
SELECT fails(format('SELECT kept(%L)', filter)) FROM unnest(ARRAY[
    '{"year": "soon"}', '{"year": {"in": [2015, "20.5"]}}', '{"year": {"between": [1, null]}}', '{"year": {"between": 2015}}', '{"sizes": "big"}', '{"sizes": 7.5}',
    '{"year": {"like": "2%"}}', '{"lang": {"contains": "e"}}', '{"lang": {"like": "e\\"}}', '{"tags": {"contains": [null]}}', '{"more.size": {"lt": true}}',
    '{"or": [{"lang": "en"}]}', '{"$or": {"lang": "en"}}', '{"and": ["en"]}', '{"not": "en"}', '{"colour": 1}', '{"lang.of": 1}', '{"lang": {"near": 1}}']) WITH ORDINALITY AS f (filter, n) ORDER BY n;
SELECT fails(format('SELECT kept(%L)', repeat('{"not":', 40) || '{}' || repeat('}', 40)));

-- A key under its source's name, also of two columns.
CREATE TABLE notes (area text, no integer, body text, PRIMARY KEY (area, no));
INSERT INTO notes VALUES ('north', 1, 'A red lamp.'), ('north', 2, 'A blue lamp.'), ('south', 1, 'A green lamp.');
SELECT rag_create_pipeline('notes', 'body');
SELECT source_key FROM rag_retrieve('lamp', 'notes', filter => '{"area": "north", "no": {"gte": 2}}');

-- A number has all its digits, also beyond those of a program, and its scale.
CREATE TABLE sums (id numeric PRIMARY KEY, body text, amount numeric, more jsonb, label text);
INSERT INTO sums VALUES (12345678901234567890123, 'A red lamp.', 12345678901234567.89, '{"n": 12345678901234567.89}', '1.50'),
    (12345678901234568000000, 'A blue lamp.', 12345678901234568, '{"n": 12345678901234568}', '1.5');
SELECT rag_create_pipeline('sums', 'body', metadata => '{amount,more,label}');
SELECT filter, (SELECT string_agg(source_key, ' ' ORDER BY source_key) FROM rag_retrieve('lamp', 'sums', filter => filter::jsonb)) FROM unnest(ARRAY[
    '{"id": 12345678901234567890123}', '{"id": [12345678901234567890123, 1.50]}', '{"amount": 12345678901234567.89}', '{"amount": {"gt": 12345678901234567.88, "lt": 1.2345678901234568e16}}',
    '{"amount": {"lt": 1e400}}', '{"more": {"contains": {"n": 12345678901234567.89}}}', '{"more.n": 12345678901234567.89}', '{"label": 1.50}']) WITH ORDINALITY AS f (filter, n) ORDER BY n;
SELECT source_key FROM rag_retrieve('lamp', 'sums', options => '{"retrieve": {"filter": {"amount": 12345678901234567.89}}}');
SELECT fails($$SELECT * FROM rag_retrieve('lamp', 'sums', filter => '{"label": {"like": 1.50}}')$$);
-- So it has as a default of the pipeline.
SELECT rag_alter_pipeline('sums', defaults => '{"retrieve": {"filter": {"amount": 12345678901234567.89}}}');
SELECT source_key FROM rag_retrieve('lamp', 'sums');

-- A value is compared as what a domain is made of: it may be one that no row can have. Integers are compared with any number.
CREATE DOMAIN positive AS integer CHECK (VALUE > 0);
CREATE DOMAIN marks AS colour[] CHECK (cardinality(VALUE) < 3);
CREATE TABLE goods (id integer PRIMARY KEY, body text, price positive, hues colour[], marks marks);
INSERT INTO goods VALUES (1, 'A red lamp.', 5, '{red}', '{red,blue}'), (2, 'A blue lamp.', 6, '{blue,red}', '{}'), (3, 'A green lamp.', NULL, NULL, NULL);
SELECT rag_create_pipeline('goods', 'body', metadata => '{price,hues,marks}');
SELECT filter, (SELECT string_agg(source_key, ' ' ORDER BY source_key) FROM rag_retrieve('lamp', 'goods', filter => filter::jsonb)) FROM unnest(ARRAY[
    '{"price": {"gte": 0}}', '{"price": [0, 5]}', '{"price": {"ne": -1}}', '{"hues": ["", "blue"]}', '{"hues": {"contains": ""}}', '{"hues": {"eq": ["red"]}}', '{"marks": {"any": ["blue"]}}', '{"marks": {"eq": ["a", "b", "c"]}}',
    '{"price": 5.0}', '{"price": 5.5}', '{"price": {"ne": 5.5}}', '{"price": {"gte": 5.5}}', '{"price": {"gt": 4.5, "lt": 5.5}}', '{"price": {"between": [4.5, 6.0]}}', '{"price": {"in": [5.0, 5.5]}}', '{"price": {"nin": [5.5, 6.0]}}', '{"price": {"lt": -0.5}}', '{"not": {"price": 5.5}}']) WITH ORDINALITY AS f (filter, n) ORDER BY n;
