-- rag_hnsw: an index access method on pgvector's types and operators.

CREATE FUNCTION rag.hnsw_handler(internal) RETURNS index_am_handler
LANGUAGE c AS 'MODULE_PATHNAME', 'rag_hnsw_handler_wrapper';
COMMENT ON FUNCTION rag.hnsw_handler IS 'handler of the index access method rag_hnsw';

CREATE ACCESS METHOD rag_hnsw TYPE INDEX HANDLER rag.hnsw_handler;
COMMENT ON ACCESS METHOD rag_hnsw IS 'approximate nearest neighbours in a hierarchical navigable small world graph';

-- What an operator class stands for: the function says it by its own name.
CREATE FUNCTION rag.hnsw_vector_l2() RETURNS integer IMMUTABLE PARALLEL SAFE
LANGUAGE c AS 'MODULE_PATHNAME', 'rag_hnsw_support_wrapper';
COMMENT ON FUNCTION rag.hnsw_vector_l2 IS 'support function of vector_l2_ops of rag_hnsw';
CREATE FUNCTION rag.hnsw_vector_ip() RETURNS integer IMMUTABLE PARALLEL SAFE
LANGUAGE c AS 'MODULE_PATHNAME', 'rag_hnsw_support_wrapper';
COMMENT ON FUNCTION rag.hnsw_vector_ip IS 'support function of vector_ip_ops of rag_hnsw';
CREATE FUNCTION rag.hnsw_vector_cosine() RETURNS integer IMMUTABLE PARALLEL SAFE
LANGUAGE c AS 'MODULE_PATHNAME', 'rag_hnsw_support_wrapper';
COMMENT ON FUNCTION rag.hnsw_vector_cosine IS 'support function of vector_cosine_ops of rag_hnsw';
CREATE FUNCTION rag.hnsw_vector_l1() RETURNS integer IMMUTABLE PARALLEL SAFE
LANGUAGE c AS 'MODULE_PATHNAME', 'rag_hnsw_support_wrapper';
COMMENT ON FUNCTION rag.hnsw_vector_l1 IS 'support function of vector_l1_ops of rag_hnsw';
CREATE FUNCTION rag.hnsw_halfvec_l2() RETURNS integer IMMUTABLE PARALLEL SAFE
LANGUAGE c AS 'MODULE_PATHNAME', 'rag_hnsw_support_wrapper';
COMMENT ON FUNCTION rag.hnsw_halfvec_l2 IS 'support function of halfvec_l2_ops of rag_hnsw';
CREATE FUNCTION rag.hnsw_halfvec_ip() RETURNS integer IMMUTABLE PARALLEL SAFE
LANGUAGE c AS 'MODULE_PATHNAME', 'rag_hnsw_support_wrapper';
COMMENT ON FUNCTION rag.hnsw_halfvec_ip IS 'support function of halfvec_ip_ops of rag_hnsw';
CREATE FUNCTION rag.hnsw_halfvec_cosine() RETURNS integer IMMUTABLE PARALLEL SAFE
LANGUAGE c AS 'MODULE_PATHNAME', 'rag_hnsw_support_wrapper';
COMMENT ON FUNCTION rag.hnsw_halfvec_cosine IS 'support function of halfvec_cosine_ops of rag_hnsw';
CREATE FUNCTION rag.hnsw_halfvec_l1() RETURNS integer IMMUTABLE PARALLEL SAFE
LANGUAGE c AS 'MODULE_PATHNAME', 'rag_hnsw_support_wrapper';
COMMENT ON FUNCTION rag.hnsw_halfvec_l1 IS 'support function of halfvec_l1_ops of rag_hnsw';
CREATE FUNCTION rag.hnsw_bit_hamming() RETURNS integer IMMUTABLE PARALLEL SAFE
LANGUAGE c AS 'MODULE_PATHNAME', 'rag_hnsw_support_wrapper';
COMMENT ON FUNCTION rag.hnsw_bit_hamming IS 'support function of bit_hamming_ops of rag_hnsw';
CREATE FUNCTION rag.hnsw_bit_jaccard() RETURNS integer IMMUTABLE PARALLEL SAFE
LANGUAGE c AS 'MODULE_PATHNAME', 'rag_hnsw_support_wrapper';
COMMENT ON FUNCTION rag.hnsw_bit_jaccard IS 'support function of bit_jaccard_ops of rag_hnsw';

CREATE OPERATOR CLASS vector_l2_ops FOR TYPE vector USING rag_hnsw AS
    OPERATOR 1 <-> (vector, vector) FOR ORDER BY float_ops,
    FUNCTION 1 (vector, vector) rag.hnsw_vector_l2();
CREATE OPERATOR CLASS vector_ip_ops FOR TYPE vector USING rag_hnsw AS
    OPERATOR 1 <#> (vector, vector) FOR ORDER BY float_ops,
    FUNCTION 1 (vector, vector) rag.hnsw_vector_ip();
CREATE OPERATOR CLASS vector_cosine_ops FOR TYPE vector USING rag_hnsw AS
    OPERATOR 1 <=> (vector, vector) FOR ORDER BY float_ops,
    FUNCTION 1 (vector, vector) rag.hnsw_vector_cosine();
CREATE OPERATOR CLASS vector_l1_ops FOR TYPE vector USING rag_hnsw AS
    OPERATOR 1 <+> (vector, vector) FOR ORDER BY float_ops,
    FUNCTION 1 (vector, vector) rag.hnsw_vector_l1();

CREATE OPERATOR CLASS halfvec_l2_ops FOR TYPE halfvec USING rag_hnsw AS
    OPERATOR 1 <-> (halfvec, halfvec) FOR ORDER BY float_ops,
    FUNCTION 1 (halfvec, halfvec) rag.hnsw_halfvec_l2();
CREATE OPERATOR CLASS halfvec_ip_ops FOR TYPE halfvec USING rag_hnsw AS
    OPERATOR 1 <#> (halfvec, halfvec) FOR ORDER BY float_ops,
    FUNCTION 1 (halfvec, halfvec) rag.hnsw_halfvec_ip();
CREATE OPERATOR CLASS halfvec_cosine_ops FOR TYPE halfvec USING rag_hnsw AS
    OPERATOR 1 <=> (halfvec, halfvec) FOR ORDER BY float_ops,
    FUNCTION 1 (halfvec, halfvec) rag.hnsw_halfvec_cosine();
CREATE OPERATOR CLASS halfvec_l1_ops FOR TYPE halfvec USING rag_hnsw AS
    OPERATOR 1 <+> (halfvec, halfvec) FOR ORDER BY float_ops,
    FUNCTION 1 (halfvec, halfvec) rag.hnsw_halfvec_l1();

CREATE OPERATOR CLASS bit_hamming_ops FOR TYPE bit USING rag_hnsw AS
    OPERATOR 1 <~> (bit, bit) FOR ORDER BY float_ops,
    FUNCTION 1 (bit, bit) rag.hnsw_bit_hamming();
CREATE OPERATOR CLASS bit_jaccard_ops FOR TYPE bit USING rag_hnsw AS
    OPERATOR 1 <%> (bit, bit) FOR ORDER BY float_ops,
    FUNCTION 1 (bit, bit) rag.hnsw_bit_jaccard();

-- Columns beside the vector, to filter by. Text and enums: only equality and lists.
CREATE OPERATOR FAMILY integer_ops USING rag_hnsw;
CREATE OPERATOR CLASS int2_ops DEFAULT FOR TYPE int2 USING rag_hnsw FAMILY integer_ops AS
    OPERATOR 1 < (int2, int2),
    OPERATOR 2 <= (int2, int2),
    OPERATOR 3 = (int2, int2),
    OPERATOR 4 >= (int2, int2),
    OPERATOR 5 > (int2, int2);
CREATE OPERATOR CLASS int4_ops DEFAULT FOR TYPE int4 USING rag_hnsw FAMILY integer_ops AS
    OPERATOR 1 < (int4, int4),
    OPERATOR 2 <= (int4, int4),
    OPERATOR 3 = (int4, int4),
    OPERATOR 4 >= (int4, int4),
    OPERATOR 5 > (int4, int4);
CREATE OPERATOR CLASS int8_ops DEFAULT FOR TYPE int8 USING rag_hnsw FAMILY integer_ops AS
    OPERATOR 1 < (int8, int8),
    OPERATOR 2 <= (int8, int8),
    OPERATOR 3 = (int8, int8),
    OPERATOR 4 >= (int8, int8),
    OPERATOR 5 > (int8, int8);
ALTER OPERATOR FAMILY integer_ops USING rag_hnsw ADD
    OPERATOR 1 < (int2, int4),
    OPERATOR 2 <= (int2, int4),
    OPERATOR 3 = (int2, int4),
    OPERATOR 4 >= (int2, int4),
    OPERATOR 5 > (int2, int4),
    OPERATOR 1 < (int2, int8),
    OPERATOR 2 <= (int2, int8),
    OPERATOR 3 = (int2, int8),
    OPERATOR 4 >= (int2, int8),
    OPERATOR 5 > (int2, int8),
    OPERATOR 1 < (int4, int2),
    OPERATOR 2 <= (int4, int2),
    OPERATOR 3 = (int4, int2),
    OPERATOR 4 >= (int4, int2),
    OPERATOR 5 > (int4, int2),
    OPERATOR 1 < (int4, int8),
    OPERATOR 2 <= (int4, int8),
    OPERATOR 3 = (int4, int8),
    OPERATOR 4 >= (int4, int8),
    OPERATOR 5 > (int4, int8),
    OPERATOR 1 < (int8, int2),
    OPERATOR 2 <= (int8, int2),
    OPERATOR 3 = (int8, int2),
    OPERATOR 4 >= (int8, int2),
    OPERATOR 5 > (int8, int2),
    OPERATOR 1 < (int8, int4),
    OPERATOR 2 <= (int8, int4),
    OPERATOR 3 = (int8, int4),
    OPERATOR 4 >= (int8, int4),
    OPERATOR 5 > (int8, int4);
CREATE OPERATOR CLASS bool_ops DEFAULT FOR TYPE bool USING rag_hnsw AS
    OPERATOR 1 < (bool, bool),
    OPERATOR 2 <= (bool, bool),
    OPERATOR 3 = (bool, bool),
    OPERATOR 4 >= (bool, bool),
    OPERATOR 5 > (bool, bool);
CREATE OPERATOR CLASS date_ops DEFAULT FOR TYPE date USING rag_hnsw AS
    OPERATOR 1 < (date, date),
    OPERATOR 2 <= (date, date),
    OPERATOR 3 = (date, date),
    OPERATOR 4 >= (date, date),
    OPERATOR 5 > (date, date);
CREATE OPERATOR CLASS timestamp_ops DEFAULT FOR TYPE timestamp USING rag_hnsw AS
    OPERATOR 1 < (timestamp, timestamp),
    OPERATOR 2 <= (timestamp, timestamp),
    OPERATOR 3 = (timestamp, timestamp),
    OPERATOR 4 >= (timestamp, timestamp),
    OPERATOR 5 > (timestamp, timestamp);
CREATE OPERATOR CLASS timestamptz_ops DEFAULT FOR TYPE timestamptz USING rag_hnsw AS
    OPERATOR 1 < (timestamptz, timestamptz),
    OPERATOR 2 <= (timestamptz, timestamptz),
    OPERATOR 3 = (timestamptz, timestamptz),
    OPERATOR 4 >= (timestamptz, timestamptz),
    OPERATOR 5 > (timestamptz, timestamptz);
CREATE OPERATOR CLASS uuid_ops DEFAULT FOR TYPE uuid USING rag_hnsw AS
    OPERATOR 1 < (uuid, uuid),
    OPERATOR 2 <= (uuid, uuid),
    OPERATOR 3 = (uuid, uuid),
    OPERATOR 4 >= (uuid, uuid),
    OPERATOR 5 > (uuid, uuid);
CREATE OPERATOR CLASS text_ops DEFAULT FOR TYPE text USING rag_hnsw AS
    OPERATOR 3 = (text, text);
CREATE OPERATOR CLASS enum_ops DEFAULT FOR TYPE anyenum USING rag_hnsw AS
    OPERATOR 3 = (anyenum, anyenum);

CREATE FUNCTION rag_hnsw_check(index regclass) RETURNS TABLE (
    problem text,
    block   bigint,
    slot    integer,
    detail  text
)
STRICT VOLATILE PARALLEL RESTRICTED COST 100000 ROWS 10
LANGUAGE c AS 'MODULE_PATHNAME', 'rag_hnsw_check_wrapper';
COMMENT ON FUNCTION rag_hnsw_check IS 'what is wrong with the structure of a rag_hnsw index; no rows if nothing is';

CREATE FUNCTION rag_hnsw_stats(index regclass) RETURNS TABLE (
    rows            bigint,
    dead            bigint,
    free            bigint,
    layers          bigint[],
    degrees         bigint[],
    storage         text,
    dimensions      integer,
    m               integer,
    ef_construction integer,
    ground_bytes    bigint,
    link_bytes      bigint,
    upper_bytes     bigint,
    loose_bytes     bigint,
    filter_bytes    bigint,
    residual_bytes  bigint,
    build_memory    bigint
)
STRICT VOLATILE PARALLEL RESTRICTED COST 100000 ROWS 1
LANGUAGE c AS 'MODULE_PATHNAME', 'rag_hnsw_stats_wrapper';
COMMENT ON FUNCTION rag_hnsw_stats IS 'what a rag_hnsw index is made of, and the memory to build it';

CREATE FUNCTION rag_hnsw_prewarm(index regclass) RETURNS bigint
STRICT VOLATILE PARALLEL RESTRICTED COST 100000
LANGUAGE c AS 'MODULE_PATHNAME', 'rag_hnsw_prewarm_wrapper';
COMMENT ON FUNCTION rag_hnsw_prewarm IS 'read a rag_hnsw index into shared buffers; the number of its pages';

CREATE FUNCTION rag_hnsw_recall(index regclass, queries integer DEFAULT 100, k integer DEFAULT 10)
RETURNS double precision
STRICT VOLATILE PARALLEL UNSAFE COST 1000000
LANGUAGE plpgsql
SET search_path = pg_catalog, pg_temp
SET enable_seqscan = off
SET enable_sort = off
SET enable_bitmapscan = off
SET enable_indexscan = on
AS $$
DECLARE
    asked    text;
    exact    text;
    found    text;
    is_built boolean;
    measured text;
    plan     jsonb;
    is_used  boolean;
    other    text;
    recall   double precision;
BEGIN
    IF queries < 1 OR k < 1 THEN
        RAISE EXCEPTION USING ERRCODE = 'invalid_parameter_value',
            MESSAGE = format('queries and k must be at least 1, not %s and %s', queries, k),
            HINT = 'Leave them out for 100 queries and the 10 nearest rows of each.';
    END IF;
    -- $1: a row's own vector. The sum keeps the exact search from using the index.
    SELECT format('SELECT %1$s AS vector FROM %2$s WHERE %3$s AND %1$s IS NOT NULL ORDER BY random() LIMIT %4$s',
                  expression, source, condition, queries),
           format('SELECT %1$s %5$s asked.vector AS distance FROM %2$s WHERE %3$s AND %1$s IS NOT NULL ORDER BY (%1$s %5$s asked.vector) + 0 LIMIT %4$s',
                  expression, source, condition, k, operator),
           format('SELECT %1$s %5$s asked.vector AS distance FROM %2$s WHERE %3$s ORDER BY %1$s %5$s asked.vector LIMIT %4$s',
                  expression, source, condition, k, operator),
           built
    INTO asked, exact, found, is_built
    FROM (SELECT '(' || pg_get_indexdef(i.indexrelid, 1, false) || ')' AS expression,
                 i.indrelid::regclass AS source,
                 coalesce(pg_get_expr(i.indpred, i.indrelid), 'true') AS condition,
                 format('OPERATOR(%I.%s)', n.nspname, o.oprname) AS operator,
                 i.indisvalid AS built
          FROM pg_index i
          JOIN pg_class r ON r.oid = i.indexrelid
          JOIN pg_am a ON a.oid = r.relam AND a.amname = 'rag_hnsw'
          JOIN pg_opclass c ON c.oid = i.indclass[0]
          JOIN pg_amop m ON m.amopfamily = c.opcfamily AND m.amoplefttype = c.opcintype AND m.amopstrategy = 1
          JOIN pg_operator o ON o.oid = m.amopopr
          JOIN pg_namespace n ON n.oid = o.oprnamespace
          WHERE i.indexrelid = rag_hnsw_recall.index) AS indexed;
    IF asked IS NULL THEN
        RAISE EXCEPTION USING ERRCODE = 'wrong_object_type',
            MESSAGE = format('"%s" is not a rag_hnsw index', index),
            HINT = 'Name an index that was made with USING rag_hnsw.';
    END IF;
    IF rag.hides_figures((SELECT i.indrelid FROM pg_index i WHERE i.indexrelid = rag_hnsw_recall.index)) THEN
        RAISE EXCEPTION USING ERRCODE = 'insufficient_privilege',
            MESSAGE = format('row-level security hides rows of the table of index "%s" from the caller', index),
            HINT = 'Figures of an index count all rows; ask as the owner of the table or a member of pg_read_all_stats.';
    END IF;
    IF NOT is_built THEN
        RAISE EXCEPTION USING ERRCODE = 'object_not_in_prerequisite_state',
            MESSAGE = format('index "%s" is not built', index),
            HINT = CASE WHEN (SELECT r.relkind = 'I' FROM pg_class r WHERE r.oid = rag_hnsw_recall.index)
                        THEN 'It has no part for one of the partitions. ALTER INDEX ... ATTACH PARTITION adds it.'
                        ELSE 'Its build has failed or is not done. REINDEX INDEX makes it anew.' END;
    END IF;
    -- What is as near as the last of the exact answer counts as found: ties are fair.
    measured := format('SELECT avg(hits.number / nullif(wanted.number, 0)) FROM (%1$s) AS asked,'
        ' LATERAL (SELECT max(distance) AS farthest, count(*)::double precision AS number FROM (%2$s) AS e) AS wanted,'
        ' LATERAL (SELECT count(*) AS number FROM (%3$s) AS f WHERE f.distance <= wanted.farthest) AS hits',
        asked, exact, found);
    -- Only the third query has its order from an index: from this one, or from those of its partitions.
    EXECUTE 'EXPLAIN (VERBOSE, FORMAT JSON) ' || measured INTO plan;
    SELECT bool_or(is_own), min(name) FILTER (WHERE NOT is_own)
    INTO is_used, other
    FROM (SELECT scanned::text AS name,
                 scanned = rag_hnsw_recall.index
                 OR rag_hnsw_recall.index IN (SELECT a.relid FROM pg_partition_ancestors(scanned) AS a) AS is_own
          FROM (SELECT format('%I.%I', n.node ->> 'Schema', n.node ->> 'Index Name')::regclass AS scanned
                FROM jsonb_path_query(plan, 'strict $.** ? (@."Order By" != "")') AS n (node)) AS s) AS u;
    IF other IS NOT NULL THEN
        RAISE EXCEPTION USING ERRCODE = 'object_not_in_prerequisite_state',
            MESSAGE = format('the planner takes index "%s" for these queries, and not index "%s"', other, index),
            HINT = format('Measure in a transaction that drops the other index and is rolled back: BEGIN; DROP INDEX %s; SELECT rag_hnsw_recall(...); ROLLBACK.', other);
    ELSIF is_used IS NOT TRUE THEN
        RAISE EXCEPTION USING ERRCODE = 'object_not_in_prerequisite_state',
            MESSAGE = format('the planner does not take index "%s" for these queries', index),
            HINT = 'EXPLAIN of a query with ORDER BY and LIMIT shows what it takes instead.';
    END IF;
    EXECUTE measured INTO recall;
    RETURN recall;
END
$$;
COMMENT ON FUNCTION rag_hnsw_recall IS 'the share of the true k nearest rows that an index finds, over randomly chosen rows';
