-- Columns beside the vector in an index: filters that the scan itself evaluates.
\set SHOW_CONTEXT never
\pset format unaligned
\pset tuples_only on
SET client_min_messages = warning;
SET jit = off;
SET max_parallel_workers_per_gather = 0;
-- All rows that a filter keeps, also those that a scan finds late.
SET rag_hnsw.iterative_scan = relaxed_order;

CREATE FUNCTION embedding(number integer) RETURNS vector LANGUAGE sql IMMUTABLE AS
$$SELECT array_agg(round(sin(number * sqrt(d + 1))::numeric, 6) ORDER BY d)::vector FROM generate_series(1, 32) AS d$$;

-- Of the nearest rows that a condition keeps, as the index gives them: their number, how many
-- are missing and how many should not be there. Lists are for the index from PostgreSQL 17 on.
CREATE FUNCTION compared(condition text, most integer DEFAULT 20000) RETURNS text LANGUAGE plpgsql AS $$
DECLARE
    near  text := format('SELECT id FROM items WHERE %s ORDER BY v <-> embedding(20001) LIMIT %s', condition, most);
    plan  text := '';
    line  text;
    wanted integer[];
    found  integer[];
BEGIN
    SET LOCAL enable_indexscan = off;
    EXECUTE format('SELECT coalesce(array_agg(id), ''{}'') FROM items WHERE %s', condition) INTO wanted;
    SET LOCAL enable_indexscan = on;
    SET LOCAL enable_seqscan = off;
    SET LOCAL enable_sort = off;
    EXECUTE format('SELECT coalesce(array_agg(id), ''{}'') FROM (%s) AS q', near) INTO found;
    FOR line IN EXECUTE 'EXPLAIN (COSTS OFF) ' || near LOOP
        plan := plan || line || E'\n';
    END LOOP;
    SET LOCAL enable_seqscan = on;
    SET LOCAL enable_sort = on;
    RETURN format('%s rows, %s missing, %s wrong, %s', cardinality(found),
        least(cardinality(wanted), most) - cardinality(found),
        (SELECT count(*) FROM unnest(found) AS id WHERE id <> ALL (wanted)),
        CASE WHEN plan ~ 'items_v' AND condition ~ ' (IN|ANY) ' THEN 'by the index or filtered'
            WHEN plan ~ 'Index Cond' THEN 'by the index' WHEN plan ~ 'items_v' THEN 'filtered' ELSE 'without the index' END);
END
$$;

CREATE TYPE colour AS ENUM ('red', 'green', 'blue');
CREATE TABLE items (
    id     integer PRIMARY KEY,
    tenant integer,
    small  smallint,
    large  bigint,
    flag   boolean,
    day    date,
    label  text,
    shade  colour,
    code   uuid,
    moment timestamptz,
    v      vector(32)
) WITH (autovacuum_enabled = off);

CREATE FUNCTION fill(low integer, high integer) RETURNS void LANGUAGE sql AS $$
    INSERT INTO items
    SELECT i, nullif(i % 100, 99), i % 7 - 3, i * 10000000000, i % 2 = 0, date '2026-01-01' + i % 365,
           CASE WHEN i % 10 > 0 THEN 'label ' || i % 50 END, (ARRAY['red', 'green', 'blue']::colour[])[1 + i % 3],
           md5((i % 200)::text)::uuid, timestamptz '2026-01-01 00:00+00' + i * interval '1 hour',
           CASE WHEN i % 500 > 0 THEN embedding(i) END
    FROM generate_series(low, high) AS i
$$;
SELECT fill(1, 4000);
CREATE INDEX items_v ON items USING rag_hnsw (v vector_l2_ops, tenant, small, large, flag, day);
SELECT fill(4001, 5000);
VACUUM ANALYZE items;
SELECT count(*) FROM rag_hnsw_check('items_v');
SELECT rows, filter_bytes > 0 FROM rag_hnsw_stats('items_v');
\d items_v

-- The plan says what the index evaluates and what the executor does.
SELECT explained('SELECT id FROM items WHERE tenant = 5 ORDER BY v <-> embedding(20001) LIMIT 10');
SELECT explained('SELECT id FROM items WHERE tenant = 5 AND label = ''label 5'' ORDER BY v <-> embedding(20001) LIMIT 10');
SELECT explained('SELECT id FROM items WHERE tenant < 20 AND flag ORDER BY v <-> embedding(20001) LIMIT 10');

-- Equality, lists, ranges, NULL; all rows, and the nearest few.
SELECT compared(condition), compared(condition, 10), condition FROM unnest(ARRAY[
    'tenant = 5', 'tenant = 99', 'tenant = 5::bigint', 'tenant = 5::smallint', 'tenant = 50000000000',
    'tenant IN (1, 2, 3)', 'tenant = ANY (ARRAY[4, NULL, 90, -7])', 'tenant = ANY (''{}'')',
    'tenant IS NULL', 'tenant IS NOT NULL', 'tenant = NULL',
    'tenant < 10', 'tenant <= 10', 'tenant >= 90', 'tenant > 90', 'tenant BETWEEN 20 AND 80',
    'tenant < ANY (ARRAY[3, 7])', 'tenant > 10000000000', 'tenant < 10000000000',
    'small = -3', 'small < 0::bigint', 'small IN (-3, 3)', 'large = 20000000000', 'large > 30000000000::bigint AND large <= 90000000000',
    'large < 5', 'flag', 'NOT flag', 'flag = true', 'flag IS NULL',
    'day = ''2026-02-01''', 'day >= ''2026-12-01''', 'day < ''-infinity''',
    'tenant = 5 AND flag', 'tenant < 50 AND small = 0 AND NOT flag', 'tenant = 5 AND v IS NOT NULL', 'tenant = 5 AND v IS NULL'
]) AS condition;

-- Other types.
DROP INDEX items_v;
CREATE INDEX items_v ON items USING rag_hnsw (v vector_l2_ops, label, shade, code, moment);
SELECT count(*) FROM rag_hnsw_check('items_v');
SELECT compared(condition), compared(condition, 10), condition FROM unnest(ARRAY[
    'label = ''label 7''', 'label IN (''label 7'', ''label 8'', ''none'')', 'label IS NULL', 'label = ''''', 'label > ''label 3''',
    'shade = ''green''', 'shade IN (''red'', ''blue'')', 'shade > ''red''',
    'code = md5(''5'')::uuid', 'code IN (md5(''6'')::uuid, md5(''7'')::uuid)', 'code < ''80000000-0000-0000-0000-000000000000''',
    'code >= ''f0000000-0000-0000-0000-000000000000''', 'moment < ''2026-01-03 00:00+00''',
    'moment BETWEEN ''2026-02-01 00:00+00'' AND ''2026-02-10 00:00+00'' AND shade = ''red''',
    'label = ''label 7'' AND shade = ''green'' AND code = md5(''157'')::uuid'
]) AS condition;

-- Values change, rows go, room is used again.
UPDATE items SET label = 'new', shade = 'red' WHERE id % 100 = 7;
DELETE FROM items WHERE id % 3 = 0;
SELECT compared('label = ''new'''), compared('shade = ''red''');
VACUUM items;
SELECT fill(5001, 6500);
SELECT count(*) FROM rag_hnsw_check('items_v');
SELECT compared('label = ''new'''), compared('label = ''label 7'''), compared('shade = ''green''', 10);

SET enable_seqscan = off;
SET enable_sort = off;

-- Rows without a vector come last, a NULL probe orders nothing, and filters hold.
SELECT count(*) FILTER (WHERE v IS NULL) > 0, bool_and(shade = 'blue') FROM (
    SELECT v, shade FROM items WHERE shade = 'blue' ORDER BY v <-> embedding(3)) AS q;
SELECT count(*), bool_and(shade = 'blue') FROM (
    SELECT shade FROM items WHERE shade = 'blue' ORDER BY v <-> NULL::vector LIMIT 50) AS q;

-- A temporary and an unlogged table; a build in too little memory.
CREATE TEMPORARY TABLE passing AS SELECT id, tenant, v FROM items;
CREATE INDEX passing_v ON passing USING rag_hnsw (v vector_cosine_ops, tenant);
SELECT count(*), bool_and(tenant = 8) FROM (SELECT tenant FROM passing WHERE tenant = 8 ORDER BY v <=> embedding(3) LIMIT 5) AS q;
CREATE UNLOGGED TABLE loose AS SELECT id, tenant, v FROM items;
SET maintenance_work_mem = '1MB';
CREATE INDEX loose_v ON loose USING rag_hnsw (v vector_cosine_ops, tenant);
RESET maintenance_work_mem;
SELECT count(*) FROM rag_hnsw_check('loose_v');
SELECT count(*), bool_and(tenant = 8) FROM (SELECT tenant FROM loose WHERE tenant = 8 ORDER BY v <=> embedding(3)) AS q;
-- So much goes to a temporary file, which has a limit.
CREATE TABLE larger AS SELECT i AS id, (SELECT array_agg(sin(i * j))::vector(64) FROM generate_series(1, 64) AS j) AS v FROM generate_series(1, 8000) AS i;
SET maintenance_work_mem = '1MB';
SET temp_file_limit = '1MB';
SELECT fails('CREATE INDEX larger_v ON larger USING rag_hnsw (v vector_l2_ops)');
RESET temp_file_limit;
CREATE INDEX larger_v ON larger USING rag_hnsw (v vector_l2_ops);
RESET maintenance_work_mem;
SELECT count(*) FROM rag_hnsw_check('larger_v');
SELECT count(*) FROM loose WHERE tenant = 8;

-- What can't be.
CREATE INDEX ON items USING rag_hnsw (tenant);
CREATE INDEX ON items USING rag_hnsw (tenant, v vector_l2_ops);
CREATE INDEX ON items USING rag_hnsw (v vector_l2_ops, v vector_l2_ops);
CREATE INDEX ON items USING rag_hnsw (v vector_l2_ops, (tenant::numeric));
CREATE INDEX ON items USING rag_hnsw (v vector_l2_ops, id, tenant, small, large, flag, day, label, shade);
CREATE TABLE slight (v vector(1), a uuid, b uuid, c uuid, d uuid, e uuid, f uuid);
-- More vectors would fit on a page than values of them.
INSERT INTO slight (v, a) SELECT ARRAY[i]::real[]::vector(1), md5(i::text)::uuid FROM generate_series(1, 500) i;
CREATE INDEX ON slight USING rag_hnsw (v vector_l2_ops, a, b, c, d, e, f) WITH (m = 2, ef_construction = 4);
INSERT INTO slight (v, a) SELECT ARRAY[i]::real[]::vector(1), md5(i::text)::uuid FROM generate_series(501, 600) i;
SELECT * FROM rag_hnsw_check('slight_v_a_b_c_d_e_f_idx');
SELECT v FROM slight WHERE a IN (md5('7')::uuid, md5('555')::uuid) ORDER BY v <-> '[1]' LIMIT 3;
CREATE INDEX ON slight USING rag_hnsw (v vector_l2_ops, a, b, c, d, e, f) WITH (storage = float32);
