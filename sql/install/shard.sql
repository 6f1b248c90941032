-- Pipelines over shards: the chunks are those of pipelines in other databases.

CREATE TABLE rag.shard (
    pipeline    integer NOT NULL,
    number      integer NOT NULL CHECK (number > 0),
    remote      text NOT NULL,
    relation    regclass NOT NULL,
    description regclass NOT NULL,
    PRIMARY KEY (pipeline, number)
);
COMMENT ON TABLE rag.shard IS 'shards of pipelines: pipelines of other databases, whose chunks are searched together';
COMMENT ON COLUMN rag.shard.pipeline IS 'id of the pipeline in rag.pipeline';
COMMENT ON COLUMN rag.shard.number IS 'number of the shard, from 1 in the order in which they are listed; a chunk''s number is this times 2^44 and the number that it has on its server';
COMMENT ON COLUMN rag.shard.remote IS 'name of the pipeline on its server';
COMMENT ON COLUMN rag.shard.relation IS 'foreign table of its chunks, which names the server';
COMMENT ON COLUMN rag.shard.description IS 'foreign table of what its server says of the pipeline';

-- Seen with its pipeline; written as that is.
ALTER TABLE rag.shard ENABLE ROW LEVEL SECURITY;
CREATE POLICY readers ON rag.shard FOR SELECT
    USING (EXISTS (SELECT FROM rag.pipeline AS p WHERE p.id OPERATOR(pg_catalog.=) shard.pipeline));
GRANT SELECT ON rag.shard TO PUBLIC;
SELECT pg_catalog.pg_extension_config_dump('rag.shard', '');

CREATE FUNCTION rag.database_number() RETURNS bigint
STABLE PARALLEL SAFE
LANGUAGE c AS 'MODULE_PATHNAME', 'rag_database_number_wrapper';
COMMENT ON FUNCTION rag.database_number IS 'a number that no other database has, in this server or another, but for copies of the server';

-- IMMUTABLE, although it looks into an index, so that postgres_fdw has the other server compute it: it is called
-- with columns of a foreign table there, so no planner computes it beforehand. One that is computed here fails.
CREATE FUNCTION rag.shard_statistics(pipeline integer, database bigint, words tsquery) RETURNS double precision[]
STRICT IMMUTABLE PARALLEL SAFE COST 1000
LANGUAGE c AS 'MODULE_PATHNAME', 'rag_shard_statistics_wrapper';
COMMENT ON FUNCTION rag.shard_statistics IS 'how frequent words are in a pipeline of this database: its chunks, the sum of their lengths, and of each word in how many it is';

-- IMMUTABLE for the same reason.
CREATE FUNCTION rag.shard_candidates(pipeline integer, database bigint, view jsonb, request bytea) RETURNS bytea
STRICT IMMUTABLE COST 10000
LANGUAGE c AS 'MODULE_PATHNAME', 'rag_shard_candidates_wrapper';
COMMENT ON FUNCTION rag.shard_candidates IS 'which chunks of a pipeline of this database, as its view shows them, are candidates for a question that another database asks; request and result are in a form of pg_rag''s own';

-- What another database reads of a pipeline. Each question reads `id`, `name`, `model` and `database`: what only the making
-- of a pipeline over shards reads is computed in the list of columns, from which PostgreSQL leaves it out.
CREATE VIEW rag.pipeline_as_shard WITH (security_barrier = true) AS
SELECT p.id, p.name, rag.database_number() AS database,
       (SELECT n.nspname::text FROM pg_catalog.pg_class AS c JOIN pg_catalog.pg_namespace AS n ON n.oid = c.relnamespace
        WHERE c.oid = p.view::oid) AS schema,
       (SELECT c.relname::text FROM pg_catalog.pg_class AS c WHERE c.oid = p.view::oid) AS view,
       p.model,
       (SELECT m.dimension FROM rag.model AS m WHERE m.name = p.model) AS dimension,
       (SELECT m.digest FROM rag.model AS m WHERE m.name = p.model) AS digest,
       p.config, p.key_columns,
       (SELECT pg_catalog.jsonb_agg(pg_catalog.jsonb_build_array(
                   a.attname, pg_catalog.format_type(y.oid, -1)) ORDER BY a.attnum)
        FROM pg_catalog.pg_attribute AS a
        CROSS JOIN LATERAL (
            -- A domain, which may be over another one, is what it is made of; and -1 says that a character has any length.
            WITH RECURSIVE base AS (
                SELECT b.oid, b.typbasetype FROM pg_catalog.pg_type AS b WHERE b.oid = a.atttypid
                UNION ALL
                SELECT b.oid, b.typbasetype FROM base JOIN pg_catalog.pg_type AS b ON b.oid = base.typbasetype)
            SELECT base.oid FROM base WHERE base.typbasetype = 0::oid) AS y
        WHERE a.attrelid = p.view::oid AND a.attnum > 0 AND NOT a.attisdropped) AS columns,
       (SELECT v.nspname::text FROM pg_catalog.pg_extension AS x JOIN pg_catalog.pg_namespace AS v ON v.oid = x.extnamespace
        WHERE x.extname = 'vector') AS vector_schema,
       (SELECT e.extversion FROM pg_catalog.pg_extension AS e WHERE e.extname = 'pg_rag') AS version
FROM rag.pipeline AS p
WHERE p.name IS NOT NULL
  AND NOT EXISTS (SELECT FROM rag.shard AS s WHERE s.pipeline = p.id)
  AND EXISTS (SELECT FROM pg_catalog.pg_class AS c WHERE c.oid = p.view::oid)
  AND (pg_catalog.has_table_privilege(p.source, 'SELECT')
       OR pg_catalog.has_any_column_privilege(p.source, 'SELECT'));
COMMENT ON VIEW rag.pipeline_as_shard IS 'pipelines as another database sees them that searches them as shards';
COMMENT ON COLUMN rag.pipeline_as_shard.id IS 'id of the pipeline in rag.pipeline';
COMMENT ON COLUMN rag.pipeline_as_shard.name IS 'name of the pipeline';
COMMENT ON COLUMN rag.pipeline_as_shard.database IS 'number of this database, which no other one has but for copies of the server';
COMMENT ON COLUMN rag.pipeline_as_shard.schema IS 'schema of the view of its chunks';
COMMENT ON COLUMN rag.pipeline_as_shard.view IS 'name of the view of its chunks';
COMMENT ON COLUMN rag.pipeline_as_shard.model IS 'embedding model, a name of rag.model';
COMMENT ON COLUMN rag.pipeline_as_shard.dimension IS 'how many numbers each of its vectors has';
COMMENT ON COLUMN rag.pipeline_as_shard.digest IS 'SHA-256 of the files of the model; NULL for a built-in model and for one behind a server';
COMMENT ON COLUMN rag.pipeline_as_shard.config IS 'qualified name of the text search configuration';
COMMENT ON COLUMN rag.pipeline_as_shard.key_columns IS 'number of key columns, which follow chunk_id in the view';
COMMENT ON COLUMN rag.pipeline_as_shard.columns IS 'columns of the view in their order, each as a list of its name and type';
COMMENT ON COLUMN rag.pipeline_as_shard.vector_schema IS 'schema of the extension vector';
COMMENT ON COLUMN rag.pipeline_as_shard.version IS 'version of the extension pg_rag';
GRANT SELECT ON rag.pipeline_as_shard TO PUBLIC;
