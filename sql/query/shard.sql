-- Pipelines over shards: pipelines of other databases, read over postgres_fdw.

-- name: of
-- $1: pipeline. Its shards: number, server, pipeline there, the two foreign tables, each by its OID and its
-- qualified name, and schema and name of the view there; NULL where a table is not there.
SELECT s.number, f.srvname::pg_catalog.text, s.remote,
       c.oid, pg_catalog.quote_ident(n.nspname) OPERATOR(pg_catalog.||) '.' OPERATOR(pg_catalog.||) pg_catalog.quote_ident(c.relname),
       d.oid, pg_catalog.quote_ident(m.nspname) OPERATOR(pg_catalog.||) '.' OPERATOR(pg_catalog.||) pg_catalog.quote_ident(d.relname),
       (SELECT o.option_value FROM pg_catalog.pg_options_to_table(t.ftoptions) AS o WHERE o.option_name OPERATOR(pg_catalog.=) 'schema_name'),
       (SELECT o.option_value FROM pg_catalog.pg_options_to_table(t.ftoptions) AS o WHERE o.option_name OPERATOR(pg_catalog.=) 'table_name')
FROM rag.shard AS s
LEFT JOIN pg_catalog.pg_foreign_table AS t ON t.ftrelid OPERATOR(pg_catalog.=) s.relation::pg_catalog.oid
LEFT JOIN pg_catalog.pg_foreign_server AS f ON f.oid OPERATOR(pg_catalog.=) t.ftserver
LEFT JOIN pg_catalog.pg_class AS c ON c.oid OPERATOR(pg_catalog.=) s.relation::pg_catalog.oid
LEFT JOIN pg_catalog.pg_namespace AS n ON n.oid OPERATOR(pg_catalog.=) c.relnamespace
LEFT JOIN pg_catalog.pg_class AS d ON d.oid OPERATOR(pg_catalog.=) s.description::pg_catalog.oid
LEFT JOIN pg_catalog.pg_namespace AS m ON m.oid OPERATOR(pg_catalog.=) d.relnamespace
WHERE s.pipeline OPERATOR(pg_catalog.=) $1
ORDER BY s.number

-- name: tables
-- $1: pipeline. Those of its foreign tables that are there: OID and qualified name.
SELECT c.oid, pg_catalog.quote_ident(n.nspname) OPERATOR(pg_catalog.||) '.' OPERATOR(pg_catalog.||) pg_catalog.quote_ident(c.relname)
FROM rag.shard AS s
CROSS JOIN LATERAL (VALUES (1, s.relation::pg_catalog.oid), (2, s.description::pg_catalog.oid)) AS f (place, oid)
JOIN pg_catalog.pg_class AS c ON c.oid OPERATOR(pg_catalog.=) f.oid
JOIN pg_catalog.pg_namespace AS n ON n.oid OPERATOR(pg_catalog.=) c.relnamespace
WHERE s.pipeline OPERATOR(pg_catalog.=) $1
ORDER BY s.number, f.place

-- name: insert
-- $1: pipeline, $2: number, $3: the pipeline's name there, $4 and $5: the foreign tables by their names.
INSERT INTO rag.shard (pipeline, number, remote, relation, description)
VALUES ($1, $2, $3, $4::pg_catalog.text::pg_catalog.regclass, $5::pg_catalog.text::pg_catalog.regclass)

-- name: delete
-- $1: pipeline.
DELETE FROM rag.shard WHERE pipeline OPERATOR(pg_catalog.=) $1

-- name: next_generation
-- $1: pipeline, $2: the name of the foreign table of its first shard.
UPDATE rag.pipeline SET chunk_table = $2::pg_catalog.text::pg_catalog.regclass, generation = generation OPERATOR(pg_catalog.+) 1
WHERE id OPERATOR(pg_catalog.=) $1

-- name: parts_of_name
-- $1: server and pipeline as identifiers.
SELECT pg_catalog.parse_ident($1)

-- name: server
-- $1: the name of a foreign server. Its wrapper, and whether it sends what belongs to the extensions that the
-- vectors and pg_rag are.
SELECT w.fdwname::pg_catalog.text,
       EXISTS (SELECT FROM pg_catalog.pg_options_to_table(f.srvoptions) AS o
               WHERE o.option_name OPERATOR(pg_catalog.=) 'extensions'
                 AND pg_catalog.string_to_array(pg_catalog.regexp_replace(o.option_value, '[" ]', '', 'g'), ',')
                     OPERATOR(pg_catalog.@>) ARRAY['vector', 'pg_rag']::pg_catalog.text[])
FROM pg_catalog.pg_foreign_server AS f
JOIN pg_catalog.pg_foreign_data_wrapper AS w ON w.oid OPERATOR(pg_catalog.=) f.srvfdw
WHERE f.srvname OPERATOR(pg_catalog.=) $1

-- name: schema
-- Where a table is made whose name has no schema.
SELECT pg_catalog.current_schema()::pg_catalog.text

-- name: schema_of
-- $1: a relation.
SELECT n.nspname::pg_catalog.text FROM pg_catalog.pg_class AS c
JOIN pg_catalog.pg_namespace AS n ON n.oid OPERATOR(pg_catalog.=) c.relnamespace
WHERE c.oid OPERATOR(pg_catalog.=) $1

-- name: relation
-- $1: the name of a relation in SQL.
SELECT $1::pg_catalog.text::pg_catalog.regclass::pg_catalog.oid

-- name: type_name
-- $1: a type as another server writes it. The same type here, of any length; NULL where there is none.
SELECT pg_catalog.format_type(pg_catalog.to_regtype($1), '-1')

-- name: description_table
CREATE FOREIGN TABLE {table} (
    id integer, name text, database bigint, schema text, view text, model text, dimension integer, digest text,
    config text, key_columns integer, columns jsonb, vector_schema text, version text
) SERVER {server} OPTIONS (schema_name 'rag', table_name 'pipeline_as_shard', async_capable 'true');
COMMENT ON FOREIGN TABLE {table} IS {comment}

-- name: described
-- $1: the pipeline's name on its server. What is said of it there, and the version of pg_rag here.
SELECT d.schema, d.view, d.model, d.dimension, d.digest, d.config, d.key_columns, d.columns, d.vector_schema, d.version,
       (SELECT e.extversion FROM pg_catalog.pg_extension AS e WHERE e.extname OPERATOR(pg_catalog.=) 'pg_rag')
FROM {table} AS d
WHERE d.name OPERATOR(pg_catalog.=) $1

-- name: chunk_table
CREATE FOREIGN TABLE {table} (
    chunk_id bigint, {keys}, chunk_no integer, content text, start_char integer, end_char integer, heading text,
    context text, parent_start integer, parent_end integer, token_count integer{metadata},
    embedding {vector}.vector({dimension}), tsv tsvector
) SERVER {server} OPTIONS (schema_name {schema}, table_name {view}, async_capable 'true', fetch_size '1000');
COMMENT ON FOREIGN TABLE {table} IS {comment}

-- name: view
CREATE OR REPLACE VIEW {view} WITH (security_invoker = true) AS
{branches}

-- name: view_branch
SELECT (c.chunk_id OPERATOR(pg_catalog.+) {offset}::bigint)::bigint AS chunk_id, {keys}, c.chunk_no, c.content, c.start_char, c.end_char,
       c.heading, c.context, c.parent_start, c.parent_end, c.token_count{metadata}, c.embedding, c.tsv
FROM {table} AS c

-- name: content_view
CREATE VIEW {content_view} WITH (security_invoker = true) AS
SELECT {keys}, v.content{metadata} FROM {view} AS v

-- name: drop_table
DROP FOREIGN TABLE IF EXISTS {table}

-- name: probe
-- What fails where a shard does not answer.
SELECT c.chunk_id FROM {table} AS c LIMIT 1

-- name: with_other_readers
-- In an event trigger: pipelines whose foreign tables other roles may read than their view, or other columns of them,
-- after a statement that may have made it so. What GRANT is about PostgreSQL does not say.
WITH readers AS (
    SELECT c.oid, a.grantee, NULL::pg_catalog.name AS column_name
    FROM pg_catalog.pg_class AS c
    CROSS JOIN LATERAL pg_catalog.aclexplode(c.relacl) AS a
    WHERE a.privilege_type OPERATOR(pg_catalog.=) 'SELECT' AND a.grantee OPERATOR(pg_catalog.<>) c.relowner
    UNION
    SELECT c.oid, a.grantee, t.attname
    FROM pg_catalog.pg_attribute AS t
    JOIN pg_catalog.pg_class AS c ON c.oid OPERATOR(pg_catalog.=) t.attrelid
    CROSS JOIN LATERAL pg_catalog.aclexplode(t.attacl) AS a
    WHERE NOT t.attisdropped AND a.privilege_type OPERATOR(pg_catalog.=) 'SELECT' AND a.grantee OPERATOR(pg_catalog.<>) c.relowner
)
SELECT DISTINCT s.pipeline
FROM rag.shard AS s
JOIN rag.pipeline AS p ON p.id OPERATOR(pg_catalog.=) s.pipeline
JOIN pg_catalog.pg_class AS f ON f.oid OPERATOR(pg_catalog.=) s.relation::pg_catalog.oid OR f.oid OPERATOR(pg_catalog.=) s.description::pg_catalog.oid
-- What pg_dump has written grants on each relation by itself, in several sessions at once with pg_restore -j. It turns this off.
WHERE pg_catalog.current_setting('check_function_bodies')::pg_catalog.bool
AND EXISTS (
    SELECT FROM pg_catalog.pg_event_trigger_ddl_commands() AS d
    WHERE d.command_tag OPERATOR(pg_catalog.=) 'GRANT' OR d.command_tag OPERATOR(pg_catalog.=) 'REVOKE'
       OR d.objid OPERATOR(pg_catalog.=) p.view::pg_catalog.oid OR d.objid OPERATOR(pg_catalog.=) f.oid)
AND EXISTS (
    (SELECT r.grantee, r.column_name FROM readers AS r
     WHERE r.oid OPERATOR(pg_catalog.=) p.view::pg_catalog.oid
       AND (r.column_name IS NULL
            OR EXISTS (SELECT FROM pg_catalog.pg_attribute AS t
                       WHERE t.attrelid OPERATOR(pg_catalog.=) f.oid AND t.attname OPERATOR(pg_catalog.=) r.column_name AND NOT t.attisdropped))
     EXCEPT SELECT r.grantee, r.column_name FROM readers AS r WHERE r.oid OPERATOR(pg_catalog.=) f.oid)
    UNION ALL
    (SELECT r.grantee, r.column_name FROM readers AS r WHERE r.oid OPERATOR(pg_catalog.=) f.oid
     EXCEPT SELECT r.grantee, r.column_name FROM readers AS r WHERE r.oid OPERATOR(pg_catalog.=) p.view::pg_catalog.oid))

-- name: of_all
-- What each shard says. They compute it at the same time: a scan that leaves columns out is not asynchronous, so branches
-- give what they group by, too.
WITH u AS MATERIALIZED (
{branches}
)
SELECT u.* FROM u

-- name: statistics_branch
-- $1: the words of a question as a tsquery. How frequent they are in a shard, and by which model it is embedded.
(SELECT {number}::integer AS number, d.model, rag.shard_statistics(d.id, d.database, $1::pg_catalog.text::pg_catalog.tsquery) AS counted,
        d.id, d.database
 FROM {table} AS d
 WHERE d.name OPERATOR(pg_catalog.=) {remote}
 GROUP BY d.id, d.model, d.database)

-- name: candidates_branch
-- $1: a request. What a shard puts forward for it, and by which model it is embedded. The view is in JSON, since a
-- text of ours has a collation, for which postgres_fdw would call the function here.
(SELECT {number}::integer AS number, d.model, rag.shard_candidates(d.id, d.database, {view}::pg_catalog.jsonb, $1) AS found, d.id, d.database
 FROM {table} AS d
 WHERE d.name OPERATOR(pg_catalog.=) {remote}
 GROUP BY d.id, d.model, d.database)

-- name: words
-- $1: the key of a chunk, in a list. Its words.
SELECT v.tsv FROM {view} AS v

-- name: chunks
-- The chunks with some keys, which have the number of their shard in them. Each shard is asked for its own alone.
({branches})

-- name: chunks_branch
SELECT (c.chunk_id OPERATOR(pg_catalog.+) {offset}::bigint)::bigint AS chunk_id, {columns}
FROM {table} AS c
WHERE c.chunk_id OPERATOR(pg_catalog.=) ANY ({own})

-- name: documents_branch
SELECT (c.chunk_id OPERATOR(pg_catalog.+) {offset}::bigint)::bigint AS chunk_id, {columns}
FROM {table} AS c
WHERE c.{key}{cast} {equal} ANY (ARRAY(SELECT h.{key}{cast} FROM {table} AS h WHERE h.chunk_id OPERATOR(pg_catalog.=) ANY ({own})))

-- name: same_shard
 AND (v.chunk_id OPERATOR(pg_catalog.>>) {bits}) OPERATOR(pg_catalog.=) (h.chunk_id OPERATOR(pg_catalog.>>) {bits})

-- name: own_chunks
ARRAY(SELECT i.id OPERATOR(pg_catalog.-) {offset}::bigint FROM pg_catalog.unnest({keys}) AS i (id)
      WHERE i.id OPERATOR(pg_catalog.>=) {offset}::bigint AND i.id OPERATOR(pg_catalog.<) {next}::bigint)
