-- The index rag_hnsw: it gives what a sequential scan gives.
\set SHOW_CONTEXT never
\pset format unaligned
\pset tuples_only on
SET client_min_messages = warning;
SET jit = off;
-- More than the small tables have rows, so that the search is exact.
SET rag_hnsw.ef_search = 1000;

-- A vector with components from -1 to 1; number 0 is zero. No two are equally far from a third but by the rounding of halfvec.
CREATE FUNCTION embedding(number integer, dimensions integer DEFAULT 8) RETURNS vector LANGUAGE sql IMMUTABLE AS
$$SELECT array_agg(round(sin(number * sqrt(d + 1))::numeric, 6) ORDER BY d)::vector FROM generate_series(1, dimensions) AS d$$;

-- 512 bits of which so many are set, at most all.
CREATE FUNCTION flags(number integer) RETURNS bit LANGUAGE sql IMMUTABLE AS
$$SELECT string_agg(CASE WHEN place * 37 % 512 < number THEN '1' ELSE '0' END, '' ORDER BY place)::bit(512) FROM generate_series(0, 511) AS place$$;

-- The ids of a query for id and distance, in the order of its rows; those of equal distance by number.
CREATE FUNCTION listed(query text) RETURNS text LANGUAGE plpgsql AS $$
DECLARE
    list text;
BEGIN
    EXECUTE format('WITH result AS MATERIALIZED (%s),
        numbered AS (SELECT id, distance, row_number() OVER () AS number FROM result),
        placed AS (SELECT id, min(number) OVER (PARTITION BY distance) AS place FROM numbered)
        SELECT string_agg(id::text, '' '' ORDER BY place, id) FROM placed', query) INTO list;
    RETURN list;
END
$$;
CREATE FUNCTION by_index(query text) RETURNS text LANGUAGE sql
SET enable_seqscan = off SET enable_sort = off SET enable_bitmapscan = off AS 'SELECT listed(query)';
CREATE FUNCTION by_table(query text) RETURNS text LANGUAGE sql
SET enable_indexscan = off SET enable_indexonlyscan = off SET enable_bitmapscan = off AS 'SELECT listed(query)';

-- Whether by_index has its order from an index.
CREATE FUNCTION uses_index(query text) RETURNS boolean LANGUAGE plpgsql
SET enable_seqscan = off SET enable_sort = off SET enable_bitmapscan = off AS $$
DECLARE
    line text;
BEGIN
    FOR line IN EXECUTE 'EXPLAIN (COSTS OFF) ' || query LOOP
        IF line LIKE '%Order By:%' THEN RETURN true; END IF;
    END LOOP;
    RETURN false;
END
$$;

-- Compares the two ways to answer a query for id and distance.
CREATE FUNCTION same(query text) RETURNS text LANGUAGE plpgsql AS $$
DECLARE
    indexed text[] := string_to_array(by_index(query), ' ');
    expected text[] := string_to_array(by_table(query), ' ');
BEGIN
    IF NOT uses_index(query) THEN
        RETURN 'the index is not used';
    ELSIF indexed IS DISTINCT FROM expected THEN
        RETURN format('different: %s by the index, %s by the table', array_to_string(indexed, ' '), array_to_string(expected, ' '));
    END IF;
    RETURN format('same: %s rows, %s', coalesce(cardinality(expected), 0), array_to_string(expected[:3], ' '));
END
$$;

-- What rag_hnsw_check says of all indexes of a table and its partitions: nothing, if they are sound.
CREATE FUNCTION problems(relation regclass) RETURNS SETOF text LANGUAGE plpgsql AS $$
DECLARE
    checked regclass;
BEGIN
    FOR checked IN
        SELECT c.oid FROM pg_index i JOIN pg_class c ON c.oid = i.indexrelid JOIN pg_am a ON a.oid = c.relam
        WHERE a.amname = 'rag_hnsw' AND c.relkind = 'i'
            AND (i.indrelid = relation OR i.indrelid IN (SELECT relid FROM pg_partition_tree(relation)))
        ORDER BY c.relname
    LOOP
        RETURN QUERY SELECT format('%s: %s', checked, p) FROM rag_hnsw_check(checked) AS p;
    END LOOP;
END
$$;

-- A table with the columns id and v: the nearest twenty, all its rows, and its indexes.
CREATE FUNCTION sound(relation regclass, condition text DEFAULT 'true') RETURNS SETOF text LANGUAGE plpgsql AS $$
DECLARE
    query text := format('SELECT id, v <-> embedding(1001) AS distance FROM %s WHERE %s ORDER BY distance', relation, condition);
BEGIN
    RETURN NEXT same(query || ' LIMIT 20');
    RETURN NEXT same(query);
    RETURN QUERY SELECT problems(relation);
END
$$;

-- Builds an index, asks three questions, and for all rows by the first question and by zero.
CREATE FUNCTION tried(relation regclass, field text, opclass text, sign text, value text, storage text) RETURNS SETOF text
LANGUAGE plpgsql AS $$
DECLARE
    options text := ' WITH (storage = ' || quote_literal(storage) || ')';
    query text := format('SELECT id, %I %s %s AS distance FROM %s ORDER BY distance', field, sign, value, relation);
    number integer;
BEGIN
    EXECUTE format('CREATE INDEX tried ON %s USING rag_hnsw (%I %I)%s', relation, field, opclass, options);
    FOREACH number IN ARRAY ARRAY[1001, 1002, 1003] LOOP
        RETURN NEXT same(replace(query, '$1', number::text) || ' LIMIT 20');
    END LOOP;
    RETURN NEXT same(replace(query, '$1', '1001'));
    RETURN NEXT same(replace(query, '$1', '0'));
    RETURN QUERY SELECT problems(relation);
    DROP INDEX tried;
END
$$;

CREATE TABLE items (id integer PRIMARY KEY, kind integer, v vector(8), h halfvec(8), b bit(512)) WITH (autovacuum_enabled = off);
INSERT INTO items SELECT i, i % 10, embedding(i), embedding(i)::halfvec, flags(i * 7 % 307) FROM generate_series(1, 300) AS i;
INSERT INTO items SELECT i, 10 FROM generate_series(301, 305) AS i;
INSERT INTO items SELECT i, 11, embedding(0), embedding(0)::halfvec, flags(0) FROM generate_series(306, 307) AS i;

-- Operator classes.
SELECT amname, opcname, opcdefault FROM pg_opclass c JOIN pg_am a ON a.oid = c.opcmethod WHERE amname = 'rag_hnsw' ORDER BY opcname;
SELECT tried('items', 'v', 'vector_l2_ops', '<->', 'embedding($1)', NULL);
SELECT tried('items', 'v', 'vector_ip_ops', '<#>', 'embedding($1)', NULL);
SELECT tried('items', 'v', 'vector_cosine_ops', '<=>', 'embedding($1)', NULL);
SELECT tried('items', 'v', 'vector_l1_ops', '<+>', 'embedding($1)', NULL);
SELECT tried('items', 'h', 'halfvec_l2_ops', '<->', 'embedding($1)::halfvec', NULL);
SELECT tried('items', 'h', 'halfvec_ip_ops', '<#>', 'embedding($1)::halfvec', NULL);
SELECT tried('items', 'h', 'halfvec_cosine_ops', '<=>', 'embedding($1)::halfvec', NULL);
SELECT tried('items', 'h', 'halfvec_l1_ops', '<+>', 'embedding($1)::halfvec', NULL);
SELECT tried('items', 'b', 'bit_hamming_ops', '<~>', 'flags($1)', NULL);
SELECT tried('items', 'b', 'bit_jaccard_ops', '<%>', 'flags($1)', NULL);

-- Ways to store a vector: the order is exact with each.
SELECT storage, opclass, result FROM unnest(ARRAY['float32', 'float16', 'sq8']) AS storage,
    (VALUES ('vector_l2_ops', '<->'), ('vector_ip_ops', '<#>'), ('vector_cosine_ops', '<=>'), ('vector_l1_ops', '<+>')) AS o (opclass, sign),
    LATERAL tried('items', 'v', opclass, sign, 'embedding($1)', storage) AS result;
SELECT storage, opclass, result FROM unnest(ARRAY['float16', 'sq8']) AS storage,
    (VALUES ('halfvec_l2_ops', '<->'), ('halfvec_ip_ops', '<#>'), ('halfvec_cosine_ops', '<=>'), ('halfvec_l1_ops', '<+>')) AS o (opclass, sign),
    LATERAL tried('items', 'h', opclass, sign, 'embedding($1)::halfvec', storage) AS result;
-- Signs only: the index measures again what it gives.
SELECT opclass, result FROM (VALUES ('vector_l2_ops', '<->'), ('vector_ip_ops', '<#>'), ('vector_cosine_ops', '<=>')) AS o (opclass, sign),
    LATERAL tried('items', 'v', opclass, sign, 'embedding($1)', 'binary') AS result;
SELECT opclass, result FROM (VALUES ('halfvec_l2_ops', '<->'), ('halfvec_ip_ops', '<#>'), ('halfvec_cosine_ops', '<=>')) AS o (opclass, sign),
    LATERAL tried('items', 'h', opclass, sign, 'embedding($1)::halfvec', 'binary') AS result;
SELECT fails('CREATE INDEX ON items USING rag_hnsw (v vector_l1_ops) WITH (storage = binary)');
SELECT fails($$CREATE INDEX ON items USING rag_hnsw (h halfvec_l2_ops) WITH (storage = float32); DROP INDEX items_h_idx$$);
SELECT fails($$CREATE INDEX ON items USING rag_hnsw (b bit_hamming_ops) WITH (storage = sq8); DROP INDEX items_b_idx$$);

-- Numbers at the ends of their range: distances that are infinite or no number.
CREATE TABLE extremes (id integer, v vector(3));
INSERT INTO extremes VALUES (1, '[3e38,3e38,3e38]'), (2, '[-3e38,-3e38,-3e38]'), (3, '[1e-37,0,0]'), (4, '[0,0,0]'), (5, '[1,1,1]'),
    (6, '[65504,0,0]'), (7, '[65520,0,0]'), (8, '[1e10,-1e10,1e10]'), (9, '[-1,1000,1e-20]'), (10, NULL), (11, '[1e19,1e19,0]');
SELECT storage, opclass, result FROM unnest(ARRAY['float32', 'float16', 'sq8']) AS storage,
    (VALUES ('vector_l2_ops', '<->'), ('vector_ip_ops', '<#>'), ('vector_cosine_ops', '<=>'), ('vector_l1_ops', '<+>')) AS o (opclass, sign),
    LATERAL tried('extremes', 'v', opclass, sign, 'embedding($1, 3)', storage) AS result;

-- NULL asks for nothing in particular and gets all rows.
CREATE INDEX items_v ON items USING rag_hnsw (v vector_l2_ops);
SELECT same('SELECT id, v <-> (SELECT NULL::vector) AS distance FROM items ORDER BY distance');
SELECT count(*) FROM (SELECT id FROM items ORDER BY v <-> NULL LIMIT 400) AS all_rows;

-- LIMIT and OFFSET.
SELECT same('SELECT id, v <-> embedding(1002) AS distance FROM items ORDER BY distance LIMIT ' || n) FROM unnest(ARRAY[0, 1, 300, 307, 1000000]) AS n;
SELECT same('SELECT id, v <-> embedding(1002) AS distance FROM items ORDER BY distance LIMIT 10 OFFSET 280');
SELECT same('SELECT id, v <-> embedding(1002) AS distance FROM items ORDER BY distance OFFSET 400');

-- Filters.
SELECT same(format('SELECT id, v <-> embedding(1003) AS distance FROM items WHERE %s ORDER BY distance LIMIT 20', condition))
FROM unnest(ARRAY['kind = 7', 'kind % 2 = 1', 'kind = 11', 'kind = 12', 'v IS NOT NULL', 'v IS NULL', 'v <-> embedding(1003) < 1.5', 'v <-> embedding(1003) > 3']) AS condition;

-- Questions that are rows, one scan after the other.
SELECT same('SELECT q * 1000 + n.id AS id, q * 1000 + n.distance AS distance FROM generate_series(1, 20) AS q,
    LATERAL (SELECT id, v <-> embedding(1000 + q) AS distance FROM items ORDER BY distance LIMIT 3) AS n');
SET enable_seqscan = off;
SELECT q, array_length(ARRAY(SELECT id FROM items ORDER BY v <-> CASE q % 2 WHEN 1 THEN embedding(q) END LIMIT q), 1) FROM unnest(ARRAY[1, 2, 5, 300, 305]) AS q;
SELECT a.id FROM items AS a WHERE v IS NOT NULL AND kind < 10 AND a.id <> (SELECT b.id FROM items AS b ORDER BY b.v <-> a.v LIMIT 1);

-- Prepared, with one plan for all questions.
SET plan_cache_mode = force_generic_plan;
PREPARE nearest (vector, bigint) AS SELECT id FROM items ORDER BY v <-> $1 LIMIT $2;
EXECUTE nearest (embedding(17), 1);
EXECUTE nearest (embedding(230), 1);
EXECUTE nearest (NULL, 0);
SELECT fails($$EXECUTE nearest ('[1,2,3]', 5)$$);
DEALLOCATE nearest;
RESET plan_cache_mode;

-- Dimensions that do not fit.
SELECT fails($$SELECT id FROM items ORDER BY v <-> '[1,2,3]' LIMIT 1$$);
SELECT fails($$SELECT id FROM items ORDER BY v <-> '[1,2,3,4,5,6,7,8,9]' LIMIT 1$$);
SELECT fails($$INSERT INTO items (id, v) VALUES (400, '[1,2,3]')$$);
RESET enable_seqscan;
CREATE TABLE loose (id integer, v vector, h halfvec, b varbit, t text);
INSERT INTO loose VALUES (1, '[1,2,3]', '[1,2,3]', '101', 'x');
SELECT fails('CREATE INDEX ON loose USING rag_hnsw (v vector_l2_ops)');
SELECT fails('CREATE INDEX ON loose USING rag_hnsw (h halfvec_l2_ops)');
SELECT fails('CREATE INDEX ON loose USING rag_hnsw (b bit_hamming_ops)');
SELECT fails('CREATE INDEX ON loose USING rag_hnsw ((v::vector(4)) vector_l2_ops)');
SELECT fails('CREATE INDEX ON loose USING rag_hnsw (t)');
-- Of a domain, those of the type that it is over.
CREATE DOMAIN eight AS vector(8);
CREATE DOMAIN eight_again AS eight;
CREATE DOMAIN any_number AS vector;
CREATE TABLE of_domains (id integer, v eight_again, w any_number);
CREATE INDEX of_domains_v ON of_domains USING rag_hnsw (v vector_l2_ops);
INSERT INTO of_domains SELECT i, embedding(i) FROM generate_series(1, 50) AS i;
SELECT sound('of_domains');
SELECT fails('CREATE INDEX ON of_domains USING rag_hnsw (w vector_l2_ops)');

-- What an index cannot be.
SELECT fails('CREATE INDEX ON items USING rag_hnsw (v)');
SELECT fails('CREATE INDEX ON items USING rag_hnsw (v halfvec_l2_ops)');
SELECT fails('CREATE INDEX ON items USING rag_hnsw (v vector_l2_ops, h halfvec_l2_ops)');
SELECT fails('CREATE INDEX ON items USING rag_hnsw (v vector_l2_ops) INCLUDE (kind)');
SELECT fails('CREATE UNIQUE INDEX ON items USING rag_hnsw (v vector_l2_ops)');
SELECT fails('CREATE INDEX ON items USING rag_hnsw (v vector_l2_ops DESC)');
SELECT fails('CREATE INDEX ON items USING rag_hnsw (v vector_l2_ops NULLS FIRST)');

-- Options out of range.
SELECT options, f FROM unnest(ARRAY['m = 1', 'm = 1000', 'm = many', 'ef_construction = 1', 'ef_construction = 1000000', 'm = 40, ef_construction = 10',
    'storage = x', 'storage = ''''', 'lists = 100']) AS options, LATERAL fails(format('CREATE INDEX ON items USING rag_hnsw (v vector_l2_ops) WITH (%s)', options)) AS f;
SELECT indexname FROM pg_indexes WHERE tablename = 'items' ORDER BY 1;

-- Settings out of range.
SET rag_hnsw.ef_search = 0;
SET rag_hnsw.ef_search = 100000000;
SET rag_hnsw.ef_search = 'many';
SHOW rag_hnsw.ef_search;

-- Options from the smallest up; a changed option waits for REINDEX.
CREATE TABLE tuned (id integer, v vector(8)) WITH (autovacuum_enabled = off);
INSERT INTO tuned SELECT i, embedding(i) FROM generate_series(1, 200) AS i;
CREATE INDEX tuned_v ON tuned USING rag_hnsw (v vector_l2_ops) WITH (m = 4, ef_construction = 16, storage = float32);
SELECT sound('tuned');
ALTER INDEX tuned_v SET (m = 32, ef_construction = 200, storage = sq8);
INSERT INTO tuned SELECT i, embedding(i) FROM generate_series(201, 400) AS i;
SELECT sound('tuned');
REINDEX INDEX tuned_v;
SELECT sound('tuned');
ALTER INDEX tuned_v RESET (m, ef_construction, storage);
REINDEX INDEX tuned_v;
SELECT sound('tuned');
SELECT fails('ALTER INDEX tuned_v SET (m = 1)');

-- What is checked is a rag_hnsw index.
SELECT fails($$SELECT * FROM rag_hnsw_check('items_pkey')$$);
SELECT fails($$SELECT * FROM rag_hnsw_check('items')$$);
SELECT fails($$SELECT * FROM rag_hnsw_check('nowhere')$$);

-- How good it is, and what it is made of.
SELECT rag_hnsw_recall('tuned_v', 20, 5), rag_hnsw_recall('tuned_v', k => 1);
SELECT fails($$SELECT rag_hnsw_recall('items_pkey')$$);
SELECT fails($$SELECT rag_hnsw_recall('tuned_v', 0)$$);
SELECT rows, dead, storage, dimensions, m, ef_construction, layers[1], ground_bytes > 0, build_memory > 0 FROM rag_hnsw_stats('tuned_v');
SELECT rag_hnsw_prewarm('tuned_v') > 0;
-- Recall is that of the index that is named. Of two on one column the planner takes one.
CREATE INDEX tuned_m ON tuned USING rag_hnsw (v vector_l2_ops) WITH (m = 100, ef_construction = 200);
SELECT rag_hnsw_recall('tuned_v', 5, 5);
SELECT fails($$SELECT rag_hnsw_recall('tuned_m', 5, 5)$$);
BEGIN;
DROP INDEX tuned_v;
SELECT rag_hnsw_recall('tuned_m', 5, 5);
ROLLBACK;
DROP INDEX tuned_m;
-- A build that has failed.
CREATE INDEX CONCURRENTLY unbuilt ON loose USING rag_hnsw ((v::vector(4)) vector_l2_ops);
SELECT name, f FROM unnest(ARRAY['check', 'stats', 'prewarm', 'recall']) AS name, LATERAL fails(format('SELECT rag_hnsw_%s(''unbuilt'')', name)) AS f;
DROP INDEX unbuilt;

-- A cursor sees what was there when it was opened.
BEGIN;
SET LOCAL enable_seqscan = off;
SET LOCAL enable_sort = off;
DECLARE near CURSOR FOR SELECT id FROM items ORDER BY v <-> embedding(1001);
FETCH 3 FROM near;
INSERT INTO items (id, v) VALUES (401, embedding(1001));
DELETE FROM items WHERE id <= 150;
FETCH 3 FROM near;
SELECT id FROM items ORDER BY v <-> embedding(1001) LIMIT 3;
FETCH RELATIVE 10 FROM near;
FETCH BACKWARD 1 FROM near;
ROLLBACK;
BEGIN;
SET LOCAL enable_seqscan = off;
DECLARE rolling SCROLL CURSOR FOR SELECT id FROM items ORDER BY v <-> embedding(1001) LIMIT 10;
FETCH 3 FROM rolling;
FETCH BACKWARD 2 FROM rolling;
FETCH LAST FROM rolling;
DECLARE kept CURSOR WITH HOLD FOR SELECT id FROM items ORDER BY v <-> embedding(1002) LIMIT 5;
FETCH 2 FROM kept;
COMMIT;
FETCH ALL FROM kept;
CLOSE kept;
SELECT sound('items');

-- An empty table, then rows one by one, in one statement, and by COPY.
CREATE TABLE grown (id integer PRIMARY KEY, kind integer DEFAULT 0, v vector(8)) WITH (autovacuum_enabled = off);
CREATE INDEX grown_v ON grown USING rag_hnsw (v vector_l2_ops);
SELECT sound('grown');
INSERT INTO grown VALUES (1, 0, NULL);
SELECT sound('grown');
INSERT INTO grown VALUES (2, 0, embedding(2));
INSERT INTO grown VALUES (3, 0, embedding(3));
SELECT sound('grown');
INSERT INTO grown SELECT i, i % 10, embedding(i) FROM generate_series(4, 200) AS i;
SELECT sound('grown');
COPY grown FROM STDIN;
201	1	[0.1,0.2,0.3,0.4,0.5,0.6,0.7,0.8]
202	1	\N
\.
INSERT INTO grown VALUES (1, 1, embedding(201)), (203, 1, embedding(203)) ON CONFLICT (id) DO UPDATE SET v = EXCLUDED.v;
SELECT sound('grown');

-- ROLLBACK of rows, also to a savepoint; what failed half way.
BEGIN;
INSERT INTO grown SELECT i, 2, embedding(i) FROM generate_series(301, 400) AS i;
SELECT sound('grown');
SAVEPOINT a;
INSERT INTO grown VALUES (500, 2, embedding(1001));
DELETE FROM grown WHERE kind = 2;
SELECT sound('grown');
ROLLBACK TO a;
SELECT sound('grown');
ROLLBACK;
SELECT sound('grown');
SELECT fails($$INSERT INTO grown SELECT i, 1 / (320 - i), embedding(i) FROM generate_series(301, 400) AS i$$);
SELECT sound('grown');
VACUUM grown;
SELECT sound('grown');

-- UPDATE: of another column with room in the page, which the index does not see; of the vector; of both.
CREATE TABLE changed (id integer, kind integer, v vector(8)) WITH (fillfactor = 50, autovacuum_enabled = off);
INSERT INTO changed SELECT i, i % 10, embedding(i) FROM generate_series(1, 200) AS i;
CREATE INDEX changed_v ON changed USING rag_hnsw (v vector_l2_ops);
BEGIN;
SELECT pg_stat_get_xact_tuples_hot_updated('changed'::regclass) AS before \gset
UPDATE changed SET kind = kind + 1 WHERE id <= 100;
SELECT pg_stat_get_xact_tuples_hot_updated('changed'::regclass) - :before AS hot;
COMMIT;
SELECT sound('changed');
BEGIN;
SELECT pg_stat_get_xact_tuples_hot_updated('changed'::regclass) AS before \gset
UPDATE changed SET v = embedding(id + 400) WHERE id % 2 = 0;
SELECT pg_stat_get_xact_tuples_hot_updated('changed'::regclass) - :before AS hot;
COMMIT;
SELECT sound('changed');
UPDATE changed SET v = NULL WHERE id = 1;
UPDATE changed SET v = embedding(1) WHERE id = 1;
UPDATE changed SET v = embedding(id + 600), kind = 3 WHERE id IN (SELECT id FROM changed ORDER BY v <-> embedding(1001) LIMIT 50);
SELECT sound('changed');
VACUUM changed;
SELECT sound('changed');

-- Rows that were updated before the index came.
DROP INDEX changed_v;
UPDATE changed SET v = embedding(id);
UPDATE changed SET v = embedding(id + 200) WHERE id > 100;
CREATE INDEX changed_v ON changed USING rag_hnsw (v vector_l2_ops);
SELECT sound('changed');

-- ROLLBACK of CREATE INDEX, of DROP INDEX and of REINDEX; an index as old as its table.
BEGIN;
CREATE INDEX changed_v2 ON changed USING rag_hnsw (v vector_l2_ops);
INSERT INTO changed VALUES (700, 1, embedding(700));
ROLLBACK;
SELECT to_regclass('changed_v2') IS NULL;
BEGIN;
DROP INDEX changed_v;
ROLLBACK;
BEGIN;
REINDEX INDEX changed_v;
INSERT INTO changed VALUES (700, 1, embedding(700));
SELECT sound('changed');
ROLLBACK;
SELECT sound('changed');
BEGIN;
CREATE TABLE young (id integer, v vector(8));
INSERT INTO young SELECT i, embedding(i) FROM generate_series(1, 50) AS i;
CREATE INDEX young_v ON young USING rag_hnsw (v vector_l2_ops);
INSERT INTO young SELECT i, embedding(i) FROM generate_series(51, 100) AS i;
SELECT sound('young');
COMMIT;
SELECT sound('young');

-- REINDEX, CREATE INDEX CONCURRENTLY, and what writes the table anew.
REINDEX INDEX grown_v;
SELECT sound('grown');
REINDEX INDEX CONCURRENTLY grown_v;
SELECT sound('grown');
REINDEX TABLE grown;
DROP INDEX grown_v;
CREATE INDEX CONCURRENTLY grown_v ON grown USING rag_hnsw (v vector_l2_ops) WITH (m = 8);
SELECT sound('grown');
-- Its links are not followed while it is validated, but by a VACUUM, which has block 0 remember that.
CHECKPOINT;
SELECT pg_read_binary_file(pg_relation_filepath('grown_v'), 76, 12) = decode(repeat('00', 12), 'hex') AS never_followed;
VACUUM grown;
CHECKPOINT;
SELECT pg_read_binary_file(pg_relation_filepath('grown_v'), 76, 12) = decode(repeat('00', 12), 'hex') AS never_followed;
DELETE FROM grown WHERE kind = 5;
VACUUM FULL grown;
SELECT sound('grown');
CLUSTER grown USING grown_pkey;
SELECT sound('grown');
ALTER TABLE grown ALTER COLUMN v TYPE vector(8) USING embedding(id + 1);
SELECT sound('grown');
SELECT fails('CLUSTER grown USING grown_v');
SET allow_in_place_tablespaces = on;
DROP TABLESPACE IF EXISTS regress_hnsw;
CREATE TABLESPACE regress_hnsw LOCATION '';
ALTER INDEX grown_v SET TABLESPACE regress_hnsw;
INSERT INTO grown SELECT i, 6, embedding(i) FROM generate_series(701, 720) AS i;
SELECT sound('grown');
ALTER INDEX grown_v SET TABLESPACE pg_default;
DROP TABLESPACE regress_hnsw;
SELECT sound('grown');

-- TRUNCATE.
BEGIN;
TRUNCATE grown;
SELECT sound('grown');
INSERT INTO grown SELECT i, 1, embedding(i) FROM generate_series(401, 450) AS i;
SELECT sound('grown');
ROLLBACK;
SELECT sound('grown');
TRUNCATE grown;
SELECT sound('grown');
INSERT INTO grown SELECT i, 1, embedding(i) FROM generate_series(401, 450) AS i;
SELECT sound('grown');

-- Unlogged tables, also when they become logged and back.
CREATE UNLOGGED TABLE fleeting (id integer, v vector(8)) WITH (autovacuum_enabled = off);
CREATE INDEX fleeting_v ON fleeting USING rag_hnsw (v vector_l2_ops);
INSERT INTO fleeting SELECT i, embedding(i) FROM generate_series(1, 100) AS i;
SELECT sound('fleeting');
SELECT pg_relation_size('fleeting_v', 'init') > 0;
ALTER TABLE fleeting SET LOGGED;
INSERT INTO fleeting SELECT i, embedding(i) FROM generate_series(101, 150) AS i;
SELECT sound('fleeting');
ALTER TABLE fleeting SET UNLOGGED;
DELETE FROM fleeting WHERE id % 2 = 0;
VACUUM fleeting;
SELECT sound('fleeting');

-- Temporary tables.
CREATE TEMPORARY TABLE passing (id integer, v vector(8));
INSERT INTO passing SELECT i, embedding(i) FROM generate_series(1, 50) AS i;
CREATE INDEX passing_v ON passing USING rag_hnsw (v vector_l2_ops);
INSERT INTO passing SELECT i, embedding(i) FROM generate_series(51, 100) AS i;
SELECT sound('passing');
DELETE FROM passing WHERE id <= 60;
VACUUM passing;
SELECT sound('passing');
CREATE TEMPORARY TABLE emptied (id integer, v vector(8)) ON COMMIT DELETE ROWS;
CREATE INDEX emptied_v ON emptied USING rag_hnsw (v vector_l2_ops);
BEGIN;
INSERT INTO emptied SELECT i, embedding(i) FROM generate_series(1, 50) AS i;
SELECT sound('emptied');
COMMIT;
SELECT sound('emptied');

-- Partitions.
CREATE TABLE parted (id integer, kind integer, v vector(8)) PARTITION BY RANGE (id);
CREATE TABLE parted_1 PARTITION OF parted FOR VALUES FROM (1) TO (101);
CREATE INDEX parted_v ON parted USING rag_hnsw (v vector_l2_ops);
CREATE TABLE parted_2 PARTITION OF parted FOR VALUES FROM (101) TO (201);
CREATE TABLE parted_3 PARTITION OF parted DEFAULT;
INSERT INTO parted SELECT i, i % 10, embedding(i) FROM generate_series(1, 250) AS i;
SELECT sound('parted');
SELECT sound('parted', 'id < 101');
-- Of the partitions' indexes only recall is known together.
SELECT rag_hnsw_recall('parted_v', 5, 5);
SELECT name, f FROM unnest(ARRAY['check', 'stats', 'prewarm']) AS name, LATERAL fails(format('SELECT rag_hnsw_%s(''parted_v'')', name)) AS f;
UPDATE parted SET id = id + 1000 WHERE id BETWEEN 91 AND 100;
DELETE FROM parted WHERE id BETWEEN 120 AND 180;
VACUUM parted;
SELECT sound('parted');
ALTER TABLE parted DETACH PARTITION parted_2;
SELECT sound('parted');
SELECT sound('parted_2');

-- A materialized view.
CREATE MATERIALIZED VIEW pictured AS SELECT id, v FROM items WHERE kind < 5;
CREATE INDEX pictured_v ON pictured USING rag_hnsw (v vector_l2_ops);
SELECT sound('pictured');
REFRESH MATERIALIZED VIEW pictured;
SELECT sound('pictured');

-- Partial indexes.
DROP INDEX items_v;
CREATE INDEX items_partial ON items USING rag_hnsw (v vector_l2_ops) WHERE kind = 3;
SELECT sound('items', 'kind = 3');
SELECT sound('items', 'kind = 4');
INSERT INTO items (id, kind, v) SELECT i, 3 + i % 2, embedding(i) FROM generate_series(501, 520) AS i;
UPDATE items SET kind = 3 WHERE kind = 7;
SELECT sound('items', 'kind = 3');
DELETE FROM items WHERE id > 500;
DROP INDEX items_partial;

-- Expressions: fewer bits, fewer dimensions, signs only.
CREATE INDEX items_half ON items USING rag_hnsw ((v::halfvec(8)) halfvec_l2_ops);
SELECT same('SELECT id, v::halfvec(8) <-> embedding(1001)::halfvec(8) AS distance FROM items ORDER BY distance LIMIT 20');
CREATE INDEX items_prefix ON items USING rag_hnsw ((subvector(v, 1, 3)::vector(3)) vector_l2_ops);
SELECT same('SELECT id, subvector(v, 1, 3)::vector(3) <-> embedding(1001, 3) AS distance FROM items ORDER BY distance LIMIT 20');
CREATE INDEX items_signs ON items USING rag_hnsw ((binary_quantize(v)::bit(8)) bit_hamming_ops);
SELECT same('SELECT id, binary_quantize(v)::bit(8) <~> binary_quantize(embedding(1001)) AS distance FROM items ORDER BY distance');
CREATE INDEX loose_3 ON loose USING rag_hnsw ((v::vector(3)) vector_l2_ops) WHERE vector_dims(v) = 3;
INSERT INTO loose (id, v) VALUES (2, '[3,2,1]'), (3, '[1,2,3,4]'), (4, '[2,2,2]'), (5, NULL);
SELECT same('SELECT id, v::vector(3) <-> ''[1,2,2.5]'' AS distance FROM loose WHERE vector_dims(v) = 3 ORDER BY distance');
SELECT problems('items');
SELECT problems('loose');

-- Equal vectors: all are found, also if they are more than the search looks at together.
CREATE TABLE equals (id integer, v vector(8)) WITH (autovacuum_enabled = off);
CREATE INDEX equals_v ON equals USING rag_hnsw (v vector_l2_ops);
INSERT INTO equals SELECT i, embedding(1) FROM generate_series(1, 100) AS i;
INSERT INTO equals SELECT i, embedding(i) FROM generate_series(101, 150) AS i;
\set nearest 'SELECT id, v <-> embedding(1) AS distance FROM equals ORDER BY distance'
SELECT same(:'nearest' || ' LIMIT 100');
SELECT same(:'nearest');
SELECT problems('equals');
SET rag_hnsw.ef_search = 10;
SELECT same(:'nearest' || ' LIMIT 100');
SET rag_hnsw.ef_search = 1000;
REINDEX INDEX equals_v;
SELECT same(:'nearest');
SELECT problems('equals');
DELETE FROM equals WHERE id <= 100 AND id % 3 <> 0;
SELECT same(:'nearest');
SELECT problems('equals');
VACUUM equals;
SELECT same(:'nearest');
SELECT problems('equals');
INSERT INTO equals SELECT i, embedding(1) FROM generate_series(201, 300) AS i;
SELECT same(:'nearest' || ' LIMIT 133');
DELETE FROM equals WHERE v = embedding(1);
VACUUM equals;
SELECT same(:'nearest');
SELECT problems('equals');

-- A filter that keeps few of many rows: never fewer than there are, whatever the search looks at.
RESET rag_hnsw.ef_search;
CREATE TABLE many (id integer, kind integer, v vector(8)) WITH (autovacuum_enabled = off);
INSERT INTO many SELECT i, i % 500, embedding(i) FROM generate_series(1, 2000) AS i;
CREATE INDEX many_v ON many USING rag_hnsw (v vector_l2_ops);
SET enable_seqscan = off;
SET enable_sort = off;
SELECT uses_index('SELECT id FROM many WHERE kind = 77 ORDER BY v <-> embedding(3001) LIMIT 10');
SELECT count(*), count(DISTINCT id) FROM (SELECT id FROM many WHERE kind = 77 ORDER BY v <-> embedding(3001) LIMIT 10) AS few;
SELECT count(*), count(DISTINCT id) FROM (SELECT id FROM many WHERE kind < 10 ORDER BY v <-> embedding(3001) LIMIT 100) AS few;
SELECT count(*) FROM (SELECT id FROM many WHERE kind = 1000 ORDER BY v <-> embedding(3001) LIMIT 10) AS nothing;
SELECT count(*), count(DISTINCT id) FROM (SELECT id FROM many ORDER BY v <-> embedding(3001) LIMIT 1500) AS most;
SELECT count(*), count(DISTINCT id) FROM (SELECT id FROM many ORDER BY v <-> embedding(3001) LIMIT 5000) AS everything;
RESET enable_seqscan;
RESET enable_sort;
SELECT problems('many');

-- Deleted rows give their room back to the next ones.
SELECT pg_relation_size('many_v') AS size_before, ground_bytes AS ground_before FROM rag_hnsw_stats('many_v') \gset
DELETE FROM many WHERE id % 4 <> 0;
SELECT count(*), count(DISTINCT id) FROM (SELECT id FROM many ORDER BY v <-> embedding(3001) LIMIT 5000) AS quarter;
VACUUM many;
SET rag_hnsw.ef_search = 1000;
SELECT sound('many', 'id <= 1200');
RESET rag_hnsw.ef_search;
DELETE FROM many;
VACUUM many;
SELECT sound('many');
-- As in any database that is used, another transaction comes and goes.
SELECT pg_current_xact_id() IS NOT NULL;
INSERT INTO many SELECT i, i % 500, embedding(i) FROM generate_series(1, 2000) AS i;
SELECT problems('many');
-- How many nodes the upper layers have is left to chance.
SELECT pg_relation_size('many_v') <= 1.3 * :size_before, ground_bytes <= :ground_before FROM rag_hnsw_stats('many_v');
SET enable_seqscan = off;
SELECT count(*), count(DISTINCT id) FROM (SELECT id FROM many ORDER BY v <-> embedding(3001) LIMIT 5000) AS everything;
SELECT count(*) FROM generate_series(1, 2000, 50) AS i WHERE i = (SELECT id FROM many ORDER BY v <-> embedding(i) LIMIT 1);
RESET enable_seqscan;

-- Rows that get their vector later: nothing is left of them where rows without one stand.
CREATE TABLE later (id integer, v vector(64)) WITH (autovacuum_enabled = off);
CREATE INDEX later_v ON later USING rag_hnsw (v vector_l2_ops);
INSERT INTO later SELECT i, NULL FROM generate_series(1, 300) AS i;
UPDATE later SET v = embedding(id, 64);
VACUUM later;
INSERT INTO later SELECT i, embedding(i, 64) FROM generate_series(301, 600) AS i;
SET enable_seqscan = off;
SELECT count(*), count(DISTINCT id) FROM (SELECT id FROM later ORDER BY v <-> embedding(1001, 64)) AS l;
RESET enable_seqscan;
SELECT problems('later');

-- Residual codes: the order is that of the operator, after inserts, and after slots were freed and taken again.
CREATE TABLE coded (id integer, v vector(40), h halfvec(40)) WITH (autovacuum_enabled = off);
INSERT INTO coded SELECT i, embedding(i, 40), embedding(i, 40)::halfvec FROM generate_series(1, 300) AS i;
CREATE INDEX coded_l2 ON coded USING rag_hnsw (v vector_l2_ops, id) WITH (residuals = on);
CREATE INDEX coded_ip ON coded USING rag_hnsw (v vector_ip_ops) WITH (residuals = on, storage = sq8);
CREATE INDEX coded_cosine ON coded USING rag_hnsw (h halfvec_cosine_ops) WITH (residuals = on);
CREATE FUNCTION coded_are_same() RETURNS SETOF text LANGUAGE sql AS $$
SELECT same(format('SELECT id, %s AS distance FROM coded %s ORDER BY distance %s', distance, condition, "limit"))
FROM unnest(ARRAY['v <-> embedding(1001, 40)', 'v <#> embedding(1001, 40)', 'h <=> embedding(1001, 40)::halfvec', 'v <-> embedding(0, 40)']) AS distance,
     unnest(ARRAY['', 'WHERE id BETWEEN 50 AND 250']) AS condition, unnest(ARRAY['LIMIT 20', '']) AS "limit" $$;
-- A sweep over all rows would not look at the codes.
SET rag_hnsw.iterative_scan = off;
SET rag_hnsw.ef_search = 1000;
SELECT DISTINCT coded_are_same() ORDER BY 1;
INSERT INTO coded SELECT i, embedding(i, 40), embedding(i, 40)::halfvec FROM generate_series(301, 400) AS i;
DELETE FROM coded WHERE id % 3 = 0;
SELECT DISTINCT coded_are_same() ORDER BY 1;
VACUUM coded;
INSERT INTO coded SELECT i, embedding(i, 40), embedding(i, 40)::halfvec FROM generate_series(400, 1, -1) AS i WHERE i % 3 = 0;
SELECT DISTINCT coded_are_same() ORDER BY 1;
SELECT problems('coded');
RESET rag_hnsw.iterative_scan;
RESET rag_hnsw.ef_search;
SELECT indexrelid::regclass, residual_bytes > 0 FROM pg_index, rag_hnsw_stats(indexrelid) WHERE indrelid = 'coded'::regclass ORDER BY indexrelid::regclass::text;
SELECT fails('CREATE INDEX ON coded USING rag_hnsw (v vector_l1_ops) WITH (residuals = on, storage = sq8)');
SELECT fails(format('CREATE INDEX ON coded USING rag_hnsw (v vector_l2_ops) WITH (residuals = on, storage = %s)', storage))
FROM unnest(ARRAY['float32', 'float16', 'binary']) AS storage;
SELECT fails('CREATE INDEX ON coded USING rag_hnsw (v vector_l2_ops) WITH (residuals = many)');
-- Where they are not asked for, vectors that are in TOAST have them.
CREATE TABLE stored (plain vector(600), apart vector(600), short vector(499), half halfvec(1100));
ALTER TABLE stored ALTER plain SET STORAGE PLAIN;
CREATE INDEX stored_apart ON stored USING rag_hnsw (apart vector_l2_ops);
CREATE INDEX stored_apart_off ON stored USING rag_hnsw (apart vector_l2_ops) WITH (residuals = off);
CREATE INDEX stored_half ON stored USING rag_hnsw (half halfvec_l2_ops);
CREATE INDEX stored_l1 ON stored USING rag_hnsw (apart vector_l1_ops) WITH (storage = sq8);
CREATE INDEX stored_plain ON stored USING rag_hnsw (plain vector_l2_ops);
CREATE INDEX stored_short ON stored USING rag_hnsw (short vector_l2_ops);
INSERT INTO stored VALUES (embedding(1, 600), embedding(1, 600), embedding(1, 499), embedding(1, 1100)::halfvec);
SELECT indexrelid::regclass, residual_bytes > 0 FROM pg_index, rag_hnsw_stats(indexrelid) WHERE indrelid = 'stored'::regclass ORDER BY indexrelid::regclass::text;

-- Many dimensions.
CREATE TABLE wide (id integer, v vector(2500)) WITH (autovacuum_enabled = off);
INSERT INTO wide SELECT i, embedding(i, 2500) FROM generate_series(1, 40) AS i;
CREATE INDEX wide_v ON wide USING rag_hnsw (v vector_cosine_ops);
SELECT same('SELECT id, v <=> embedding(1001, 2500) AS distance FROM wide ORDER BY distance LIMIT 10');
INSERT INTO wide SELECT i, embedding(i, 2500) FROM generate_series(41, 60) AS i;
DELETE FROM wide WHERE id <= 20;
VACUUM wide;
SELECT same('SELECT id, v <=> embedding(1001, 2500) AS distance FROM wide ORDER BY distance LIMIT 10');
SELECT problems('wide');
SELECT fails('CREATE INDEX wide_v32 ON wide USING rag_hnsw (v vector_cosine_ops) WITH (storage = float32)');
CREATE TABLE widest (id integer, v vector(16000));
SELECT fails('CREATE INDEX ON widest USING rag_hnsw (v vector_l2_ops)');
CREATE TABLE narrow (id integer, v vector(1), b bit(1)) WITH (autovacuum_enabled = off);
INSERT INTO narrow SELECT i, ARRAY[i * i]::vector, (i % 2)::bit(1) FROM generate_series(1, 100) AS i;
SELECT tried('narrow', 'v', 'vector_l2_ops', '<->', '''[$1]''', NULL);
CREATE INDEX narrow_b ON narrow USING rag_hnsw (b bit_hamming_ops);
SELECT same('SELECT id, b <~> B''1'' AS distance FROM narrow ORDER BY distance');
SELECT problems('narrow');

-- What an index cannot hold is refused when it is made; what it can hold can be inserted and found.
CREATE FUNCTION limit_of(type text, opclass text, value text, options text DEFAULT 'storage = auto') RETURNS text LANGUAGE plpgsql AS $$
DECLARE found bigint;
BEGIN
    EXECUTE format('CREATE TABLE limited (v %s)', type);
    EXECUTE format('CREATE INDEX ON limited USING rag_hnsw (v %s) WITH (%s)', opclass, options);
    EXECUTE format('INSERT INTO limited SELECT %s FROM generate_series(1, 3)', value);
    SET LOCAL enable_seqscan = off;
    EXECUTE format('SELECT count(*) FROM (SELECT FROM limited ORDER BY v %s (%s) LIMIT 5) AS found', CASE WHEN type LIKE '%bit%' THEN '<~>' ELSE '<->' END, value) INTO found;
    DROP TABLE limited;
    RETURN format('%s %s: %s rows', type, options, found);
EXCEPTION WHEN OTHERS THEN RETURN format('%s %s: %s %s', type, options, SQLSTATE, SQLERRM);
END $$;
SELECT limit_of('bit(64000)', 'bit_hamming_ops', $$repeat('10', 32000)::bit(64000)$$);
SELECT limit_of('bit(64001)', 'bit_hamming_ops', $$repeat('1', 64001)::bit(64001)$$);
SELECT limit_of('varbit(3)', 'bit_hamming_ops', $$B'10'::varbit$$);
SELECT limit_of(format('%s(%s)', type, d), type || '_l2_ops', format('array_fill(0.5::real, ARRAY[%s])::%s', d, type), 'storage = ' || s)
FROM (VALUES ('vector', 1), ('vector', 2000), ('vector', 2001), ('vector', 8000), ('vector', 8001), ('vector', 16000), ('halfvec', 8000), ('halfvec', 16000)) AS t (type, d),
     unnest(ARRAY['float32', 'float16', 'sq8', 'binary']) AS s;

-- Rows of a scan have their ctid, so that they can be locked, and deleted by it.
CREATE TABLE rows_of_scan (id integer PRIMARY KEY, v vector(8), b bit(8));
INSERT INTO rows_of_scan SELECT i, embedding(i), (i % 256)::bit(8) FROM generate_series(1, 500) AS i;
CREATE FUNCTION tried_rows(storage text) RETURNS TABLE (place bigint, what text) LANGUAGE plpgsql SET enable_seqscan = off AS $$
DECLARE best integer[];
BEGIN
    EXECUTE format('CREATE INDEX scanned ON rows_of_scan USING rag_hnsw (v vector_l2_ops) WITH (storage = %L)', storage);
    best := ARRAY(SELECT id FROM rows_of_scan ORDER BY v <-> embedding(3) LIMIT 3 FOR UPDATE);
    RETURN QUERY SELECT 1::bigint, format('%s: locked %s', storage, best);
    RETURN QUERY SELECT 2::bigint, format('valid: %s', bool_and(t.ctid = s.ctid)) FROM (SELECT ctid, id FROM rows_of_scan ORDER BY v <-> embedding(3) LIMIT 100) AS s JOIN rows_of_scan AS t USING (id);
    DELETE FROM rows_of_scan WHERE ctid IN (SELECT ctid FROM rows_of_scan ORDER BY v <-> embedding(3) LIMIT 3);
    RETURN QUERY SELECT 3::bigint, format('deleted: %s', 500 - (SELECT count(*) FROM rows_of_scan));
    DROP INDEX scanned;
    INSERT INTO rows_of_scan SELECT i, embedding(i), (i % 256)::bit(8) FROM unnest(best) AS i;
END $$;
SELECT what FROM unnest(ARRAY['float32', 'float16', 'sq8', 'binary']) AS s, tried_rows(s) ORDER BY s, place;

-- The order of rows is that of the operator, however far a scan goes, and relaxed_order leaves none out.
CREATE TABLE clustered (id integer PRIMARY KEY, v vector(16));
INSERT INTO clustered SELECT i, (SELECT array_agg(round((sin(i % 40 * sqrt(d + 1) * 7) + sin(i * sqrt(d + 2)) / 5)::numeric, 6) ORDER BY d)::vector FROM generate_series(1, 16) AS d) FROM generate_series(1, 6000) AS i;
CREATE INDEX clustered_v ON clustered USING rag_hnsw (v vector_cosine_ops);
ANALYZE clustered;
CREATE FUNCTION out_of_order(most integer, condition text DEFAULT 'true') RETURNS text LANGUAGE plpgsql SET enable_seqscan = off SET enable_sort = off AS $$
DECLARE
    query vector;
    distances float8[];
    wrong integer := 0;
    fewest integer := most;
BEGIN
    FOR query IN SELECT v FROM clustered WHERE id % 300 = 7 ORDER BY id LOOP
        EXECUTE format('SELECT array_agg(distance) FROM (SELECT v <=> $1 AS distance FROM clustered WHERE %s ORDER BY v <=> $1 LIMIT %s) AS found', condition, most) INTO distances USING query;
        wrong := wrong + (SELECT count(*) FROM generate_subscripts(distances, 1) AS i WHERE distances[i] < distances[i - 1]);
        fewest := least(fewest, cardinality(distances));
    END LOOP;
    RETURN format('%s rows out of order, %s rows', wrong, CASE WHEN fewest > most * 0.97 THEN 'nearly all' ELSE fewest::text END);
END $$;
SHOW rag_hnsw.iterative_scan;
RESET rag_hnsw.ef_search;
SELECT most, out_of_order(most), out_of_order(most, 'id % 5 = 0') FROM unnest(ARRAY[10, 100, 1000]) AS most;
SET enable_seqscan = off;
SET enable_sort = off;
SET rag_hnsw.iterative_scan = relaxed_order;
SELECT count(*), count(DISTINCT id) FROM (SELECT id FROM clustered ORDER BY v <=> (SELECT v FROM clustered WHERE id = 7) LIMIT 6000) AS found;
SET rag_hnsw.iterative_scan = off;
SELECT count(*) FROM (SELECT id FROM clustered ORDER BY v <=> (SELECT v FROM clustered WHERE id = 7) LIMIT 6000) AS found;
RESET rag_hnsw.iterative_scan;
RESET enable_seqscan;
RESET enable_sort;
SET rag_hnsw.ef_search = 1000;

-- The first scan of a session is counted, too.
\connect -
BEGIN;
SET LOCAL enable_seqscan = off;
SELECT id FROM wide ORDER BY v <=> embedding(1001, 2500) LIMIT 1;
SELECT pg_stat_get_xact_numscans('wide_v'::regclass);
-- Two distances are an order, but not that of the index.
SELECT count(*) FROM (SELECT id FROM wide ORDER BY v <=> embedding(1001, 2500), v <=> embedding(1002, 2500) LIMIT 5) AS t;
ROLLBACK;
