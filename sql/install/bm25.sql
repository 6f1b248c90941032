-- rag_bm25: an index access method that ranks texts by their words.

CREATE FUNCTION rag.bm25_handler(internal) RETURNS index_am_handler
LANGUAGE c AS 'MODULE_PATHNAME', 'rag_bm25_handler_wrapper';
COMMENT ON FUNCTION rag.bm25_handler IS 'handler of the index access method rag_bm25';

CREATE ACCESS METHOD rag_bm25 TYPE INDEX HANDLER rag.bm25_handler;
COMMENT ON ACCESS METHOD rag_bm25 IS 'texts ranked by their words with BM25';

CREATE TYPE rag_bm25_query AS (
    index regclass,
    query tsquery
);
COMMENT ON TYPE rag_bm25_query IS 'a query over a rag_bm25 index';

-- The names of the arguments are those of the type's columns.
CREATE FUNCTION rag_bm25_query(index regclass, query tsquery) RETURNS rag_bm25_query
LANGUAGE sql IMMUTABLE PARALLEL SAFE
RETURN ROW($1, $2)::rag_bm25_query;
COMMENT ON FUNCTION rag_bm25_query IS 'a query over a rag_bm25 index';

-- STABLE, because it looks into the index that the query names.
CREATE FUNCTION rag.bm25_distance(document tsvector, query rag_bm25_query) RETURNS double precision
STRICT STABLE PARALLEL SAFE COST 20
LANGUAGE c AS 'MODULE_PATHNAME', 'rag_bm25_distance_wrapper';
COMMENT ON FUNCTION rag.bm25_distance IS 'minus the BM25 score of a text';

CREATE OPERATOR <@> (
    LEFTARG = tsvector,
    RIGHTARG = rag_bm25_query,
    FUNCTION = rag.bm25_distance
);
COMMENT ON OPERATOR <@> (tsvector, rag_bm25_query) IS 'minus the BM25 score: the best text first';

CREATE OPERATOR CLASS tsvector_ops DEFAULT FOR TYPE tsvector USING rag_bm25 AS
    OPERATOR 1 @@ (tsvector, tsquery),
    OPERATOR 2 <@> (tsvector, rag_bm25_query) FOR ORDER BY float_ops;

CREATE FUNCTION rag_bm25_check(index regclass) RETURNS TABLE (
    problem text,
    block   bigint,
    detail  text
)
STRICT VOLATILE PARALLEL RESTRICTED COST 100000 ROWS 10
LANGUAGE c AS 'MODULE_PATHNAME', 'rag_bm25_check_wrapper';
COMMENT ON FUNCTION rag_bm25_check IS 'what is wrong with the structure of a rag_bm25 index; no rows if nothing is';

CREATE FUNCTION rag_bm25_stats(index regclass) RETURNS TABLE (
    documents      bigint,
    average_length double precision,
    terms          bigint,
    segments       integer,
    pending        bigint,
    pages          bigint,
    free_pages     bigint
)
STRICT VOLATILE PARALLEL RESTRICTED COST 1000 ROWS 1
LANGUAGE c AS 'MODULE_PATHNAME', 'rag_bm25_stats_wrapper';
COMMENT ON FUNCTION rag_bm25_stats IS 'what a rag_bm25 index is made of';
