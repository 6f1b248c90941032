-- When the planner takes the index rag_hnsw.
\set SHOW_CONTEXT never
\pset format unaligned
\pset tuples_only on
SET client_min_messages = warning;
SET jit = off;
SET max_parallel_workers_per_gather = 0;

CREATE FUNCTION embedding(number integer) RETURNS vector LANGUAGE sql IMMUTABLE AS
$$SELECT array_agg(round(sin(number * sqrt(d + 1))::numeric, 6) ORDER BY d)::vector FROM generate_series(1, 64) AS d$$;

CREATE TABLE items (id integer, kind integer, half boolean, v vector(64)) WITH (autovacuum_enabled = off);
INSERT INTO items SELECT i, i % 1000, i % 2 = 0, embedding(i) FROM generate_series(1, 5000) AS i;
CREATE INDEX items_v ON items USING rag_hnsw (v vector_l2_ops);
CREATE TABLE tiny (id integer, v vector(64)) WITH (autovacuum_enabled = off);
INSERT INTO tiny SELECT id, v FROM items WHERE id <= 20;
CREATE INDEX tiny_v ON tiny USING rag_hnsw (v vector_l2_ops);

-- Just loaded, before anybody has analysed.
SELECT explained('SELECT id FROM items ORDER BY v <-> embedding(5001) LIMIT 10');
VACUUM ANALYZE items, tiny;

-- The nearest few: the index.
SELECT explained('SELECT id FROM items ORDER BY v <-> embedding(5001) LIMIT 1');
SELECT explained('SELECT id FROM items ORDER BY v <-> embedding(5001) LIMIT 10');
SELECT explained('SELECT id, v <-> embedding(5001) AS distance FROM items ORDER BY distance LIMIT 10 OFFSET 10');
SELECT explained('SELECT id FROM items ORDER BY embedding(5001) <-> v LIMIT 10');
SELECT explained('SELECT id FROM items ORDER BY v <-> embedding(5001) FETCH FIRST 10 ROWS ONLY');

-- All rows, or most of them: one sequential scan.
SELECT explained('SELECT id FROM items ORDER BY v <-> embedding(5001)');
SELECT explained('SELECT id FROM items ORDER BY v <-> embedding(5001) LIMIT 4500');
SELECT explained('SELECT id FROM items ORDER BY v <-> embedding(5001) LIMIT 10 OFFSET 4500');

-- A tiny table: a sequential scan, and the index for who insists.
SELECT explained('SELECT id FROM tiny ORDER BY v <-> embedding(5001) LIMIT 10');
SET enable_seqscan = off;
SELECT explained('SELECT id FROM tiny ORDER BY v <-> embedding(5001) LIMIT 10');
RESET enable_seqscan;

-- Another order, another operator: not the index's.
SELECT explained('SELECT id FROM items ORDER BY v <-> embedding(5001) DESC LIMIT 10');
SELECT explained('SELECT id FROM items ORDER BY v <-> embedding(5001) NULLS FIRST LIMIT 10');
SELECT explained('SELECT id FROM items ORDER BY v <=> embedding(5001) LIMIT 10');
SELECT explained('SELECT id FROM items ORDER BY id, v <-> embedding(5001) LIMIT 10');
SELECT explained('SELECT id FROM items ORDER BY 1 - (v <-> embedding(5001)) LIMIT 10');

-- Without ORDER BY never, also when a sequential scan is not wanted.
SET enable_seqscan = off;
SELECT explained('SELECT v FROM items');
SELECT explained('SELECT v FROM items LIMIT 10');
SELECT explained('SELECT count(*) FROM items');
SELECT explained('SELECT id FROM items WHERE v <-> embedding(5001) < 1');
SELECT explained('SELECT id FROM items WHERE v = embedding(17)');
RESET enable_seqscan;

-- A filter that keeps half of the rows: the index, and the filter on what it gives.
SELECT explained('SELECT id FROM items WHERE half ORDER BY v <-> embedding(5001) LIMIT 10');

-- A filter that keeps few: what it keeps is sorted. Without an index for the filter,
SELECT explained('SELECT id FROM items WHERE kind = 77 ORDER BY v <-> embedding(5001) LIMIT 10');
SELECT explained('SELECT id FROM items WHERE kind = 77 AND half ORDER BY v <-> embedding(5001) LIMIT 10');
-- and with one, which goes first.
CREATE INDEX items_kind ON items (kind);
SELECT explained('SELECT id FROM items WHERE kind = 77 ORDER BY v <-> embedding(5001) LIMIT 10');
SELECT explained('SELECT id FROM items WHERE kind IN (7, 77, 777) ORDER BY v <-> embedding(5001) LIMIT 10');
SELECT explained('SELECT id FROM items WHERE kind < 900 ORDER BY v <-> embedding(5001) LIMIT 10');

-- Questions that are rows.
SELECT explained('SELECT t.id, n.id FROM tiny AS t CROSS JOIN LATERAL (SELECT i.id FROM items AS i ORDER BY i.v <-> t.v LIMIT 3) AS n');

-- A prepared statement, with one plan for all questions.
SET plan_cache_mode = force_generic_plan;
PREPARE nearest (vector) AS SELECT id FROM items ORDER BY v <-> $1 LIMIT 10;
SELECT explained('EXECUTE nearest (embedding(1))');
PREPARE some_nearest (vector, bigint) AS SELECT id FROM items ORDER BY v <-> $1 LIMIT $2;
SELECT explained('EXECUTE some_nearest (embedding(1), 10)');
RESET plan_cache_mode;

-- A cursor is read from its beginning and perhaps not to its end.
SELECT explained('DECLARE near CURSOR FOR SELECT id FROM items ORDER BY v <-> embedding(5001)');

-- Looking at more costs more, and is still less than looking at everything.
SET rag_hnsw.ef_search = 200;
SELECT explained('SELECT id FROM items ORDER BY v <-> embedding(5001) LIMIT 10');
RESET rag_hnsw.ef_search;

-- Only an index that is allowed.
SET enable_indexscan = off;
SELECT explained('SELECT id FROM items ORDER BY v <-> embedding(5001) LIMIT 10');
RESET enable_indexscan;

-- Partial and expression indexes: for the queries that say the same.
DROP INDEX items_v, items_kind;
CREATE INDEX items_partial ON items USING rag_hnsw (v vector_l2_ops) WHERE half;
SELECT explained('SELECT id FROM items WHERE half ORDER BY v <-> embedding(5001) LIMIT 10');
SELECT explained('SELECT id FROM items WHERE NOT half ORDER BY v <-> embedding(5001) LIMIT 10');
SELECT explained('SELECT id FROM items ORDER BY v <-> embedding(5001) LIMIT 10');
CREATE INDEX items_half ON items USING rag_hnsw ((v::halfvec(64)) halfvec_cosine_ops);
SELECT explained('SELECT id FROM items ORDER BY v::halfvec(64) <=> embedding(5001)::halfvec(64) LIMIT 10');
SELECT explained('SELECT id FROM items ORDER BY v <=> embedding(5001) LIMIT 10');

-- Partitions: each gives its nearest.
CREATE TABLE parted (id integer, v vector(64)) PARTITION BY RANGE (id);
CREATE TABLE parted_1 PARTITION OF parted FOR VALUES FROM (1) TO (2501);
CREATE TABLE parted_2 PARTITION OF parted FOR VALUES FROM (2501) TO (5001);
CREATE INDEX parted_v ON parted USING rag_hnsw (v vector_l2_ops);
INSERT INTO parted SELECT id, v FROM items;
VACUUM ANALYZE parted;
SELECT explained('SELECT id FROM parted ORDER BY v <-> embedding(5001) LIMIT 10');
SELECT explained('SELECT id FROM parted WHERE id > 2500 ORDER BY v <-> embedding(5001) LIMIT 10');

-- Of two indexes that could, one does; without any, nothing is lost.
CREATE INDEX tiny_v2 ON tiny USING rag_hnsw (v vector_l2_ops) WITH (m = 8);
SET enable_seqscan = off;
SELECT count(*) FROM explained('SELECT id FROM tiny ORDER BY v <-> embedding(5001) LIMIT 10') AS line WHERE line LIKE '%Index Scan using tiny_v%';
RESET enable_seqscan;
DROP INDEX tiny_v, tiny_v2;
SELECT explained('SELECT id FROM tiny ORDER BY v <-> embedding(5001) LIMIT 10');

-- Vectors in TOAST: what a sequential scan pays for them counts, for the rows that a condition keeps.
CREATE FUNCTION wide(number integer) RETURNS vector LANGUAGE sql IMMUTABLE AS
$$SELECT array_agg(sin(number * sqrt(d + 1))::real ORDER BY d)::vector FROM generate_series(1, 1536) AS d$$;
CREATE TABLE toasted (id integer PRIMARY KEY, v vector(1536)) WITH (autovacuum_enabled = off);
INSERT INTO toasted SELECT i, wide(i) FROM generate_series(1, 1000) AS i;
CREATE INDEX toasted_v ON toasted USING rag_hnsw (v vector_l2_ops);
VACUUM ANALYZE toasted;
SELECT explained('SELECT id FROM toasted ORDER BY v <-> wide(5) LIMIT 10');
SELECT explained('SELECT id FROM toasted WHERE id < 20 ORDER BY v <-> wide(5) LIMIT 10');
DROP TABLE toasted;

-- A distance that only gives the order is not computed again, of rows that come in order; any other is.
DEALLOCATE ALL;
CREATE INDEX items_v ON items USING rag_hnsw (v vector_l2_ops);
VACUUM ANALYZE items;
SET plan_cache_mode = force_generic_plan;
SET enable_seqscan = off;
CREATE FUNCTION output(query text) RETURNS SETOF text LANGUAGE plpgsql AS $$
DECLARE
    line text;
BEGIN
    EXECUTE 'PREPARE output (vector) AS ' || query;
    FOR line IN EXECUTE 'EXPLAIN (VERBOSE, COSTS OFF) EXECUTE output (NULL)' LOOP
        -- Releases write subplans and windows in different ways.
        IF line ~ 'Output: |->|^[A-Z]' AND line !~ 'Query Identifier|Window: |Output: (\$|\(InitPlan)' THEN
            RETURN NEXT regexp_replace(line, 'OVER (\(\?\)|w1)', 'OVER ...');
        END IF;
    END LOOP;
    DEALLOCATE output;
END
$$;
SELECT output('SELECT id FROM items ORDER BY v <-> $1 LIMIT 10');
SELECT output('SELECT id FROM items WHERE half ORDER BY v <-> $1 LIMIT 10 OFFSET 5');
SELECT output('SELECT id FROM items ORDER BY v <-> $1 LIMIT 10 FOR UPDATE');
SELECT output('SELECT id, v <-> $1 AS distance FROM items ORDER BY distance LIMIT 10');
SELECT output('SELECT id, 1 - (v <-> $1) AS likeness FROM items ORDER BY v <-> $1 LIMIT 10');
SELECT output('SELECT id FROM items ORDER BY v <-> $1 FETCH FIRST 10 ROWS WITH TIES');
SELECT output('SELECT max(id) FROM (SELECT id FROM items ORDER BY v <-> $1 LIMIT 10) AS nearest');
SELECT output('WITH nearest AS MATERIALIZED (SELECT id FROM items ORDER BY v <-> $1 LIMIT 10) SELECT count(*) FROM nearest');
SELECT output('SELECT ARRAY(SELECT id FROM items ORDER BY v <-> $1 LIMIT 10)');
SELECT output('SELECT id, row_number() OVER (ORDER BY v <-> $1) FROM items LIMIT 10');
SELECT output('SELECT id FROM items WHERE id < 10 UNION ALL (SELECT id FROM items ORDER BY v <-> $1 LIMIT 10)');
SELECT output('SELECT t.id FROM tiny AS t CROSS JOIN LATERAL (SELECT id FROM items AS i ORDER BY i.v <-> t.v LIMIT 3) AS near WHERE $1 IS NULL');
-- The rows are those that a sort gives, in order.
SET rag_hnsw.ef_search = 200;
PREPARE nearest (vector) AS SELECT id FROM items ORDER BY v <-> $1 LIMIT 10;
EXECUTE nearest (embedding(5001));
EXECUTE nearest (embedding(5002));
SELECT array_agg(id) FROM (SELECT id FROM items ORDER BY (v <-> embedding(5001)) + 0 LIMIT 10) AS sorted;
SELECT array_agg(id) FROM (SELECT id FROM items ORDER BY (v <-> embedding(5002)) + 0 LIMIT 10) AS sorted;
BEGIN;
DECLARE near CURSOR FOR SELECT id FROM items ORDER BY v <-> embedding(5001) LIMIT 3;
FETCH 2 FROM near;
UPDATE items SET kind = -1 WHERE CURRENT OF near;
SELECT id FROM items WHERE kind = -1;
ROLLBACK;
