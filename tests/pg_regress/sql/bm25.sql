-- The index rag_bm25: it ranks as the formula says, and finds what @@ finds.
\set SHOW_CONTEXT never
\pset format unaligned
\pset tuples_only on
SET client_min_messages = warning;
SET jit = off;

-- A number from 0 to 1, always the same for a place.
CREATE FUNCTION draw(place bigint) RETURNS float8 LANGUAGE sql IMMUTABLE AS
$$SELECT 0.5 + hashint8extended(place, 7)::float8 / 18446744073709551616.0::float8$$;
-- A text of 5 to 54 words; the word of rank n occurs about 1/n times as often as the first.
CREATE FUNCTION prose(number bigint) RETURNS text LANGUAGE sql IMMUTABLE AS
$$SELECT string_agg('w' || floor(exp(ln(3000) * draw(number * 128 + n)))::int, ' ' ORDER BY n) FROM generate_series(1, 5 + (number % 50)::int) AS n$$;

CREATE TABLE docs (id integer PRIMARY KEY, kind integer, body text, tsv tsvector) WITH (autovacuum_enabled = off);
INSERT INTO docs SELECT i, i % 10, prose(i), to_tsvector('simple', prose(i)) FROM generate_series(1, 2000) AS i;
INSERT INTO docs VALUES (3001, 1, NULL, NULL), (3002, 1, '', '');
CREATE INDEX docs_tsv ON docs USING rag_bm25 (tsv);
VACUUM ANALYZE docs;

-- The formula, from the table alone: BM25 as Lucene has it.
CREATE FUNCTION formula(asked text[], k1 float8 DEFAULT 0.9, b float8 DEFAULT 0.4) RETURNS TABLE (id integer, score float8) LANGUAGE sql STABLE AS $$
    WITH words AS (SELECT d.id, w.lexeme, coalesce(cardinality(w.positions), 1)::float8 AS tf FROM docs d, unnest(d.tsv) AS w),
         lengths AS (SELECT d.id, coalesce(sum(w.tf), 0) AS length FROM docs d LEFT JOIN words w USING (id) WHERE d.tsv IS NOT NULL GROUP BY d.id),
         whole AS (SELECT count(*) AS documents, sum(length) / count(*) AS average FROM lengths),
         weights AS (SELECT a AS lexeme, count(*) AS weight FROM unnest(asked) AS a GROUP BY a),
         rarity AS (SELECT lexeme, weight, ln(1 + (documents - df + 0.5) / (df + 0.5)) AS idf
                    FROM weights, whole, LATERAL (SELECT count(*) AS df FROM words WHERE words.lexeme = weights.lexeme) AS counted)
    SELECT w.id, sum(r.weight * r.idf * w.tf / (w.tf + k1 * (1 - b + b * l.length / average)))
    FROM words w JOIN rarity r USING (lexeme) JOIN lengths l USING (id), whole GROUP BY w.id
$$;

-- What a query for id and distance gives, by the index alone or without it.
CREATE FUNCTION listed(query text) RETURNS TABLE (place bigint, id integer, distance float8) LANGUAGE plpgsql AS
$$BEGIN RETURN QUERY EXECUTE 'SELECT row_number() OVER (), f.* FROM (' || query || ') AS f'; END$$;
CREATE FUNCTION by_index(query text) RETURNS TABLE (place bigint, id integer, distance float8) LANGUAGE sql
SET enable_seqscan = off SET enable_sort = off SET enable_bitmapscan = off AS 'SELECT * FROM listed(query)';
CREATE FUNCTION by_table(query text) RETURNS TABLE (place bigint, id integer, distance float8) LANGUAGE sql
SET enable_indexscan = off SET enable_bitmapscan = off AS 'SELECT * FROM listed(query)';

-- Compares the ways to answer a query for the words of a tsquery: by the index, by sorting all rows.
CREATE FUNCTION same(asked text, rest text DEFAULT '') RETURNS text LANGUAGE plpgsql AS $$
DECLARE
    query text := format('SELECT id, tsv <@> rag_bm25_query(''docs_tsv'', %1$L) AS distance FROM docs WHERE tsv @@ %1$L::tsquery AND (tsv <@> rag_bm25_query(''docs_tsv'', %1$L)) < 0 ORDER BY tsv <@> rag_bm25_query(''docs_tsv'', %1$L) %2$s', asked, rest);
    rows bigint;
    wrong text;
BEGIN
    SELECT count(*), string_agg(format('%s: %s (%s) and %s (%s)', place, i.id, i.distance, t.id, t.distance), ', ')
        FILTER (WHERE i.distance IS NULL OR t.distance IS NULL OR abs(i.distance - t.distance) > 1e-9)
    INTO rows, wrong FROM by_index(query) AS i FULL JOIN by_table(query) AS t USING (place);
    RETURN coalesce(wrong, format('same: %s rows', rows));
END
$$;

-- The operator is the formula, and the index gives its order.
CREATE FUNCTION exact(asked text[], k1 float8 DEFAULT 0.9, b float8 DEFAULT 0.4) RETURNS text LANGUAGE plpgsql AS $$
DECLARE
    question tsquery := array_to_string(asked, ' | ');
    rows bigint;
    wrong text;
BEGIN
    SELECT count(*), string_agg(format('%s: %s and %s', id, distance, -score), ', ')
        FILTER (WHERE distance IS NULL OR score IS NULL OR abs(distance + score) > 1e-9)
    INTO rows, wrong
    FROM by_index(format('SELECT id, tsv <@> rag_bm25_query(''docs_tsv'', %1$L) AS distance FROM docs ORDER BY distance', question)) AS i
    FULL JOIN formula(asked, k1, b) AS f USING (id);
    RETURN coalesce(wrong, format('exact: %s rows', rows));
END
$$;

SELECT explained($$SELECT id FROM docs ORDER BY tsv <@> rag_bm25_query('docs_tsv', 'w7 | w40') LIMIT 5$$);
SELECT explained($$SELECT id FROM docs WHERE tsv @@ 'w7 | w40' ORDER BY tsv <@> rag_bm25_query('docs_tsv', 'w7 | w40') LIMIT 5$$);
SELECT exact('{w1}'), exact('{w7,w40}'), exact('{w1,w2,w3,w4,w5}'), exact('{w900}'), exact('{w12,w12,w300}'), exact('{absent}'), exact('{w40,absent}');
SELECT id, round((tsv <@> rag_bm25_query('docs_tsv', 'w300 | w40'))::numeric, 6) FROM docs ORDER BY tsv <@> rag_bm25_query('docs_tsv', 'w300 | w40'), id LIMIT 5;
-- Other settings of the formula.
SET rag.bm25_k1 = 1.2;
SET rag.bm25_b = 0.75;
SELECT exact('{w7,w40}', 1.2, 0.75);
SET rag.bm25_k1 = 0;
SELECT exact('{w7,w40}', 0, 0.75);
SET rag.bm25_k1 = 2;
SET rag.bm25_b = 0;
SELECT exact('{w7,w40}', 2, 0);
SELECT fails('SET rag.bm25_b = 1.5');
SELECT fails('SET rag.bm25_k1 = -1');
RESET rag.bm25_k1;
RESET rag.bm25_b;

-- What restricts: words, AND, NOT, phrases, beginnings of words.
SELECT asked, same(asked), same(asked, 'LIMIT 3') FROM unnest(ARRAY['w7', 'w7 | w40', 'w7 & w40', 'w7 & !w40', 'w7 & (w1 | w2) & !w3',
    'w1 <-> w2', 'w1 <3> w2 | w900', 'w12:*', 'w7 & w2:*', 'w1 & w2 & w3 & w4 & w5', '!(!w7 | !w40)', 'absent', 'absent & w1', 'w7:A', 'w7:D & w1', 'w1 | w1 | w2']) AS asked;
-- Without ORDER BY.
CREATE FUNCTION counted(asked text) RETURNS text LANGUAGE plpgsql SET enable_seqscan = off AS $$
DECLARE found bigint; bitmap bigint;
BEGIN
    SET LOCAL enable_bitmapscan = off;
    EXECUTE 'SELECT count(*) FROM docs WHERE tsv @@ $1' INTO found USING asked::tsquery;
    SET LOCAL enable_bitmapscan = on;
    SET LOCAL enable_indexscan = off;
    EXECUTE 'SELECT count(*) FROM docs WHERE tsv @@ $1' INTO bitmap USING asked::tsquery;
    RETURN found || ' ' || bitmap;
END
$$;
SELECT asked, counted(asked), (SELECT count(*) FROM docs WHERE ts_match_vq(tsv, asked::tsquery)) FROM unnest(ARRAY['w7', 'w7 | w40', 'w7 & !w40', 'w1 <-> w2', 'w12:*', '!w1', '!w1 | w2', '', 'absent']) AS asked;
-- Queries by chance, of all operators: the index finds what a sequential scan finds.
CREATE FUNCTION asked(place bigint, depth integer) RETURNS text LANGUAGE plpgsql AS $$
DECLARE
    what integer := floor(draw(place * 3) * 10);
BEGIN
    IF depth = 0 OR what < 2 THEN
        RETURN 'w' || floor(exp(ln(400) * draw(place))) || CASE WHEN what = 7 THEN ':*' WHEN what = 8 THEN ':AD' WHEN what = 9 THEN ':B*' ELSE '' END;
    END IF;
    RETURN CASE WHEN what < 5 THEN format('(%s & %s)', asked(place * 2, depth - 1), asked(place * 2 + 1, depth - 1))
                WHEN what < 8 THEN format('(%s | %s)', asked(place * 2, depth - 1), asked(place * 2 + 1, depth - 1))
                WHEN what = 8 THEN format('!%s', asked(place * 2, depth - 1))
                ELSE format('(%s <-> %s)', asked(place * 2, depth - 1), asked(place * 2 + 1, depth - 1)) END;
END
$$;
SELECT count(*), count(DISTINCT q) > 150, count(*) FILTER (WHERE split_part(found, ' ', 1)::int > 0) > 50,
       string_agg(format('%s: %s and %s', q, found, expected), E'\n') FILTER (WHERE found <> expected || ' ' || expected)
FROM (SELECT q, counted(q) AS found, (SELECT count(*) FROM docs WHERE ts_match_vq(tsv, q::tsquery)) AS expected
      FROM (SELECT asked(i * 131, 3) AS q FROM generate_series(1, 200) AS i) AS a) AS compared;
SELECT count(*), string_agg(format('%s: %s', q, result), E'\n') FILTER (WHERE result NOT LIKE 'same%')
FROM (SELECT q, same(q) AS result FROM (SELECT asked(i * 137, 3) AS q FROM generate_series(1, 100) AS i) AS a) AS compared;

-- A condition beside it, and one column for many.
SELECT id FROM docs WHERE kind = 3 AND tsv @@ 'w7' ORDER BY tsv <@> rag_bm25_query('docs_tsv', 'w7'), id LIMIT 3;
-- Only an ordering: texts without any of the words are not given by the index, and come last without it.
SELECT (SELECT count(*) FROM by_index($$SELECT id, 0::float8 FROM docs ORDER BY tsv <@> rag_bm25_query('docs_tsv', 'w900')$$)),
       (SELECT count(*) FROM by_table($$SELECT id, 0::float8 FROM docs ORDER BY tsv <@> rag_bm25_query('docs_tsv', 'w900')$$)),
       (SELECT count(*) FROM docs WHERE tsv @@ 'w900');

-- NULL, emptiness, and texts that were never in the table.
SELECT tsv <@> rag_bm25_query('docs_tsv', 'w1') FROM docs WHERE id IN (3001, 3002) ORDER BY id;
SELECT NULL::tsvector <@> rag_bm25_query('docs_tsv', 'w1') IS NULL, 'w1'::tsvector <@> NULL IS NULL, 'w1'::tsvector <@> rag_bm25_query('docs_tsv', NULL) IS NULL;
SELECT 'w1'::tsvector <@> rag_bm25_query('docs_tsv', ''), ''::tsvector <@> rag_bm25_query('docs_tsv', 'w1'), round(('w1:1,2,3 x:4'::tsvector <@> rag_bm25_query('docs_tsv', 'w1'))::numeric, 6);
SELECT count(*) FROM by_index($$SELECT id, 0::float8 FROM docs ORDER BY tsv <@> rag_bm25_query('docs_tsv', NULL)$$);
SELECT count(*) FROM by_index($$SELECT id, 0::float8 FROM docs ORDER BY tsv <@> rag_bm25_query('docs_tsv', '')$$);

-- Changes: inserts that wait in the index, updates, deletes, rollback, VACUUM, REINDEX.
INSERT INTO docs SELECT i, i % 10, prose(i), to_tsvector('simple', prose(i)) FROM generate_series(5001, 5600) AS i;
SELECT exact('{w7,w40}'), exact('{w1,w900}');
BEGIN;
INSERT INTO docs SELECT i, 0, 'w7 w7', 'w7:1,2' FROM generate_series(6001, 6050) AS i;
ROLLBACK;
-- Without this option VACUUM leaves few dead rows in indexes.
VACUUM (INDEX_CLEANUP on) docs;
SELECT exact('{w7,w40}');
UPDATE docs SET tsv = to_tsvector('simple', prose(id + 1)) WHERE id % 3 = 0 AND tsv IS NOT NULL;
DELETE FROM docs WHERE id % 4 = 1;
SELECT same('w7 | w40'), same('w1');
VACUUM docs;
SELECT exact('{w7,w40}'), exact('{w1,w2}'), (SELECT count(*) FROM rag_bm25_check('docs_tsv'));
REINDEX INDEX docs_tsv;
SELECT exact('{w7,w40}');
REINDEX INDEX CONCURRENTLY docs_tsv;
SELECT exact('{w7,w40}');
SELECT documents, terms > 500, round(average_length::numeric, 3), segments > 0, pages > 0 FROM rag_bm25_stats('docs_tsv');
SELECT count(*) FROM docs WHERE tsv IS NOT NULL;
TRUNCATE docs;
SELECT same('w7'), (SELECT count(*) FROM rag_bm25_check('docs_tsv'));
SELECT documents, terms, average_length, pending FROM rag_bm25_stats('docs_tsv');
INSERT INTO docs SELECT i, i % 10, prose(i), to_tsvector('simple', prose(i)) FROM generate_series(1, 300) AS i;
SELECT exact('{w7,w40}');

-- Sub-selects, prepared statements, joins and cursors.
SET enable_seqscan = off;
PREPARE best (tsquery) AS SELECT id FROM docs WHERE tsv @@ $1 ORDER BY tsv <@> rag_bm25_query('docs_tsv', $1), id LIMIT 3;
EXECUTE best ('w7 | w12');
SET plan_cache_mode = force_generic_plan;
EXECUTE best ('w7 | w12');
EXECUTE best ('!w1');
RESET plan_cache_mode;
SELECT q, f.id FROM unnest(ARRAY['w7 | w12', 'w40', 'absent']::tsquery[]) AS q CROSS JOIN LATERAL (SELECT id FROM docs WHERE tsv @@ q ORDER BY tsv <@> rag_bm25_query('docs_tsv', q) LIMIT 2) AS f ORDER BY q::text, f.id;
BEGIN;
DECLARE c CURSOR FOR SELECT id FROM docs ORDER BY tsv <@> ROW('docs_tsv', 'w40')::rag_bm25_query LIMIT 4;
FETCH 2 FROM c;
FETCH 9 FROM c;
ROLLBACK;
RESET enable_seqscan;

-- An expression, a condition, an index beside it: the one that the query names gives the scores.
CREATE INDEX docs_even ON docs USING rag_bm25 (tsv) WHERE id % 2 = 0;
CREATE INDEX docs_english ON docs USING rag_bm25 (to_tsvector('english', body));
SET enable_seqscan = off;
SET enable_sort = off;
SELECT explained($$SELECT id FROM docs WHERE id % 2 = 0 ORDER BY tsv <@> rag_bm25_query('docs_even', 'w7') LIMIT 5$$);
SELECT explained($$SELECT id FROM docs WHERE id % 2 = 0 ORDER BY tsv <@> rag_bm25_query('docs_tsv', 'w7') LIMIT 5$$);
SELECT explained($$SELECT id FROM docs WHERE id % 2 = 1 ORDER BY tsv <@> rag_bm25_query('docs_even', 'w7') LIMIT 5$$);
SELECT explained($$SELECT id FROM docs ORDER BY to_tsvector('english', body) <@> rag_bm25_query('docs_english', 'w7') LIMIT 5$$);
-- Either index gives the rows, with the scores of the one that is named.
CREATE FUNCTION scores(named regclass) RETURNS text LANGUAGE sql AS $$SELECT string_agg(round(d::numeric, 6)::text, ' ') FROM (SELECT tsv <@> ROW(named, 'w7 | w12')::rag_bm25_query AS d FROM docs WHERE id % 2 = 0 ORDER BY tsv <@> ROW(named, 'w7 | w12')::rag_bm25_query LIMIT 4) AS s$$;
SELECT scores('docs_tsv'), scores('docs_even');
SET enable_indexscan = off;
SET enable_sort = on;
SELECT scores('docs_tsv'), scores('docs_even');
RESET enable_indexscan;
SELECT round((tsv <@> rag_bm25_query('docs_tsv', 'w7'))::numeric, 6), round((tsv <@> rag_bm25_query('docs_even', 'w7'))::numeric, 6) FROM docs WHERE tsv @@ 'w7' ORDER BY id LIMIT 2;
RESET enable_seqscan;
RESET enable_sort;
DROP INDEX docs_even, docs_english;

-- What is refused.
SELECT fails('CREATE INDEX ON docs USING rag_bm25 (tsv, id)');
SELECT fails('CREATE INDEX ON docs USING rag_bm25 (body)');
SELECT fails('CREATE INDEX ON docs USING rag_bm25 (tsv) WITH (k1 = 2)');
SELECT fails('CREATE UNIQUE INDEX ON docs USING rag_bm25 (tsv)');
SELECT fails('CREATE INDEX ON docs USING rag_bm25 (tsv) INCLUDE (id)');
SELECT fails($$SELECT ''::tsvector <@> rag_bm25_query('docs_pkey', 'w1')$$);
SELECT fails($$SELECT ''::tsvector <@> rag_bm25_query('docs', 'w1')$$);
SELECT fails($$SELECT ''::tsvector <@> rag_bm25_query('nowhere', 'w1')$$);
SELECT fails($$SELECT ''::tsvector <@> rag_bm25_query(NULL, 'w1')$$);
SELECT fails($$SELECT ''::tsvector <@> rag_bm25_query(4294967295::oid, 'w1')$$);
SELECT fails($$SELECT rag_bm25_check('docs_pkey')$$);
-- A build that has failed.
CREATE INDEX CONCURRENTLY unbuilt ON docs USING rag_bm25 (to_tsvector('simple', (1 / (id - 7))::text));
SELECT name, f FROM unnest(ARRAY['check', 'stats']) AS name, LATERAL fails(format('SELECT rag_bm25_%s(''unbuilt'')', name)) AS f;
SELECT fails($$SELECT ''::tsvector <@> rag_bm25_query('unbuilt', 'w1')$$);
DROP INDEX unbuilt;
CREATE TABLE parted (id integer, tsv tsvector) PARTITION BY RANGE (id);
CREATE TABLE parted_1 PARTITION OF parted FOR VALUES FROM (1) TO (100);
CREATE INDEX parted_tsv ON parted USING rag_bm25 (tsv);
INSERT INTO parted VALUES (1, 'a b'), (2, 'b c');
SELECT fails($$SELECT id FROM parted ORDER BY tsv <@> rag_bm25_query('parted_tsv', 'a')$$);
SELECT name, f FROM unnest(ARRAY['check', 'stats']) AS name, LATERAL fails(format('SELECT rag_bm25_%s(''parted_tsv'')', name)) AS f;
CREATE TABLE parted_2 PARTITION OF parted FOR VALUES FROM (100) TO (200);
INSERT INTO parted SELECT i, to_tsvector('simple', prose(i)) FROM generate_series(10, 199) AS i;
-- One partition's statistics rank all partitions, each by its index.
SET enable_seqscan = off;
SET enable_sort = off;
SELECT explained($$SELECT id FROM parted ORDER BY tsv <@> rag_bm25_query('parted_1_tsv_idx', 'w7 | w2') LIMIT 5$$);
CREATE TABLE ranked AS SELECT id, tsv <@> rag_bm25_query('parted_1_tsv_idx', 'w7 | w2') AS distance FROM parted ORDER BY tsv <@> rag_bm25_query('parted_1_tsv_idx', 'w7 | w2');
RESET enable_seqscan;
RESET enable_sort;
SELECT count(*) > 50, count(*) FILTER (WHERE id >= 100) > 20, array_agg(distance) = array_agg(distance ORDER BY distance) FROM ranked;
SELECT count(*) = (SELECT count(*) FROM ranked) FROM parted WHERE tsv @@ 'w7 | w2';
SELECT id FROM parted WHERE tsv @@ 'a' ORDER BY tsv <@> rag_bm25_query('parted_1_tsv_idx', 'a');
SELECT amvalidate(oid) FROM pg_opclass WHERE opcmethod = (SELECT oid FROM pg_am WHERE amname = 'rag_bm25');

-- Unlogged and temporary tables.
CREATE UNLOGGED TABLE fleeting (tsv tsvector);
CREATE INDEX fleeting_tsv ON fleeting USING rag_bm25 (tsv);
CREATE TEMPORARY TABLE own (tsv tsvector);
CREATE INDEX own_tsv ON own USING rag_bm25 (tsv);
INSERT INTO fleeting VALUES ('a b'), ('b'), ('c:1,2');
INSERT INTO own TABLE fleeting;
SET enable_seqscan = off;
SELECT tsv FROM fleeting ORDER BY tsv <@> rag_bm25_query('fleeting_tsv', 'a | b');
SELECT tsv FROM own ORDER BY tsv <@> rag_bm25_query('own_tsv', 'a | b');
SELECT count(*) FROM rag_bm25_check('own_tsv');
VACUUM fleeting, own;
SELECT rows, x::text FROM unnest(ARRAY['fleeting_tsv', 'own_tsv']::regclass[]) AS i, LATERAL (SELECT documents, pending, segments FROM rag_bm25_stats(i)) AS x, LATERAL (SELECT count(*) AS rows FROM rag_bm25_check(i)) AS c;
SELECT tsv FROM fleeting ORDER BY tsv <@> rag_bm25_query('fleeting_tsv', 'a | b');
RESET enable_seqscan;

-- Odd words: as long as a lexeme may be, not ASCII, and many in one text.
CREATE FUNCTION quoted(word text) RETURNS tsquery LANGUAGE sql IMMUTABLE AS
$$SELECT (chr(39) || replace(replace(word, '\', '\\'), chr(39), chr(39) || chr(39)) || chr(39))::tsquery$$;
CREATE TABLE odd (id integer, tsv tsvector);
CREATE INDEX odd_tsv ON odd USING rag_bm25 (tsv);
INSERT INTO odd VALUES (1, array_to_tsvector(ARRAY[repeat('x', 2046), 'é', '日本', E'a''b\\c'])), (2, (SELECT array_to_tsvector(array_agg('n' || i)) FROM generate_series(1, 20000) AS i)), (3, to_tsvector('simple', repeat('same ', 1000)));
SET enable_seqscan = off;
SELECT q, (SELECT id FROM odd ORDER BY tsv <@> rag_bm25_query('odd_tsv', quoted(q)) LIMIT 1) FROM unnest(ARRAY['é', '日本', 'n7', 'n20000', 'same', E'a''b\\c']) AS q;
SELECT (SELECT id FROM odd ORDER BY tsv <@> rag_bm25_query('odd_tsv', repeat('x', 2046)::tsquery) LIMIT 1);
VACUUM odd;
SELECT q, (SELECT id FROM odd ORDER BY tsv <@> rag_bm25_query('odd_tsv', quoted(q)) LIMIT 1) FROM unnest(ARRAY['é', '日本', 'n7', 'n20000', 'same']) AS q;
SELECT problem FROM rag_bm25_check('odd_tsv');
SELECT count(*) FROM odd WHERE tsv @@ (SELECT string_agg('n' || i, '|')::tsquery FROM generate_series(1, 5000) AS i);
RESET enable_seqscan;

-- Rows that WHERE keeps come without a score after those with one, in every plan.
CREATE TABLE fruit (id integer PRIMARY KEY, tsv tsvector);
INSERT INTO fruit SELECT n, array_to_tsvector(array_remove(ARRAY['fruit', CASE WHEN n % 2 = 0 THEN 'apple' END, CASE WHEN n % 4 < 2 THEN 'banana' END, CASE WHEN n % 100 = 0 THEN 'cherry' END], NULL))
FROM generate_series(1, 4000) AS n;
CREATE INDEX fruit_tsv ON fruit USING rag_bm25 (tsv);
ANALYZE fruit;
CREATE FUNCTION ids(condition text, ranking text, most integer) RETURNS integer[] LANGUAGE plpgsql AS $$
DECLARE found integer[];
BEGIN
    EXECUTE format('SELECT array_agg(id ORDER BY place, id) FROM (SELECT id, round(distance::numeric, 9) AS place FROM
                    (SELECT id, tsv <@> rag_bm25_query(''fruit_tsv'', %L) AS distance FROM fruit WHERE %s
                     ORDER BY tsv <@> rag_bm25_query(''fruit_tsv'', %L) LIMIT %s) AS best) AS placed', ranking, condition, ranking, most) INTO found;
    RETURN found;
END $$;
CREATE FUNCTION ids_by_index(condition text, ranking text, most integer) RETURNS integer[] LANGUAGE sql
SET enable_seqscan = off SET enable_sort = off SET enable_bitmapscan = off AS 'SELECT ids(condition, ranking, most)';
CREATE FUNCTION ids_by_table(condition text, ranking text, most integer) RETURNS integer[] LANGUAGE sql
SET enable_indexscan = off SET enable_bitmapscan = off AS 'SELECT ids(condition, ranking, most)';
SELECT condition, ranking, cardinality(by_index) AS rows, by_index = by_table AS same
FROM (VALUES ($$tsv @@ 'apple | !banana'$$, 'apple | !banana'), ($$tsv @@ 'banana'$$, 'apple'), ($$tsv @@ 'banana & !apple'$$, 'cherry'),
             ($$tsv @@ 'banana' AND tsv @@ '!cherry'$$, 'cherry'), ($$tsv @@ 'app:*'$$, 'apple'), ($$tsv @@ 'apple'$$, 'app:*'),
             ($$tsv @@ 'apple & banana'$$, 'banana | cherry'), ($$tsv @@ 'apple | cherry'$$, 'cherry'), ($$tsv @@ '!fruit'$$, 'apple'),
             ($$tsv @@ ''::tsquery$$, 'apple'), ($$tsv @@ 'none'$$, 'apple'), ($$tsv @@ 'apple:A'$$, 'apple'), ($$tsv @@ 'cherry <-> apple'$$, 'banana'),
             ($$tsv @@ 'banana'$$, NULL), ($$tsv @@ 'banana & !apple'$$, NULL), ($$tsv @@ 'none'$$, NULL),
             -- What an index is told nothing of.
             ($$tsv @@ 'apple' OR tsv @@ 'banana'$$, 'cherry'), ($$tsv @@ 'banana' OR id = 2$$, 'apple'), ($$tsv @@ ANY (ARRAY['apple', 'banana']::tsquery[])$$, 'cherry'),
             ($$(tsv @@ 'apple' OR tsv @@ 'cherry') AND id > 2000$$, 'apple | cherry'), ($$'banana' @@ tsv OR id = 2$$, 'apple'), ($$tsv @@ 'banana' OR id = 2$$, NULL)) AS v (condition, ranking),
     LATERAL (SELECT ids_by_index(condition, ranking, 4000) AS by_index, ids_by_table(condition, ranking, 4000) AS by_table) AS x;
EXPLAIN (COSTS OFF) SELECT id FROM fruit WHERE tsv @@ 'banana' ORDER BY tsv <@> rag_bm25_query('fruit_tsv', 'cherry') LIMIT 5;
SELECT count(*) FROM (SELECT id FROM fruit WHERE tsv @@ 'banana' ORDER BY tsv <@> rag_bm25_query('fruit_tsv', 'apple') LIMIT 1500) AS best;
-- By an index only where that gives all rows.
SET enable_seqscan = off;
SET enable_sort = off;
SET enable_bitmapscan = off;
SELECT ranking, (SELECT count(*) FROM explained(format($$SELECT id FROM fruit WHERE (tsv @@ 'apple' OR tsv @@ 'cherry') AND id > 2 ORDER BY tsv <@> rag_bm25_query('fruit_tsv', %L) LIMIT 5$$, ranking)) AS line WHERE line ~ 'Index Scan using fruit_tsv')
FROM unnest(ARRAY['apple | cherry', 'cherry']) AS ranking;
RESET enable_seqscan;
RESET enable_sort;
RESET enable_bitmapscan;
-- The question is known as the scan begins: one that is NULL ranks nothing, and hides nothing that WHERE keeps.
SET enable_seqscan = off;
SET enable_sort = off;
SET enable_bitmapscan = off;
SELECT q, count(f.id), count(f.distance) FROM (VALUES (1, NULL::tsquery), (2, ''), (3, 'none'), (4, 'apple')) AS v (place, q)
CROSS JOIN LATERAL (SELECT id, tsv <@> rag_bm25_query('fruit_tsv', q) AS distance FROM fruit WHERE tsv @@ 'banana' ORDER BY tsv <@> rag_bm25_query('fruit_tsv', q) LIMIT 10) AS f GROUP BY place, q ORDER BY place;
RESET enable_seqscan;
RESET enable_sort;
RESET enable_bitmapscan;

-- The first scan of a session is counted, too.
\connect -
BEGIN;
SET LOCAL enable_seqscan = off;
SELECT id FROM odd ORDER BY tsv <@> rag_bm25_query('odd_tsv', 'same') LIMIT 1;
SELECT pg_stat_get_xact_numscans('odd_tsv'::regclass);
ROLLBACK;

DROP EXTENSION pg_rag CASCADE;
SELECT count(*) FROM pg_class c JOIN pg_am a ON a.oid = c.relam WHERE amname = 'rag_bm25';
