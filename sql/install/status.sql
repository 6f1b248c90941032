-- Views for people and dashboards: figures only, so every reader of a source may see them.

CREATE VIEW rag.pipeline_status AS
SELECT coalesce(p.name, o.name)                             AS pipeline,
       p.source                                             AS source,
       p.mode                                               AS mode,
       p.generation                                         AS generation,
       CASE WHEN p.replaces IS NOT NULL THEN 'filling beside generation ' || o.generation::text
            WHEN p.paused THEN 'paused'
            WHEN p.not_before > pg_catalog.now() THEN 'waiting for its model'
            ELSE p.stage END                                AS state,
       p.model                                              AS model,
       s.rows                                               AS source_rows,
       pg_catalog.pg_stat_get_live_tuples(p.chunk_table)    AS chunks,
       CASE WHEN i.has_all THEN 0
            WHEN s.rows > 0
            THEN greatest(0, 1::double precision - (q.pending + l.failed)::double precision / s.rows::double precision)
            ELSE 1 END                                      AS coverage,
       q.pending                                            AS pending_rows,
       q.retrying                                           AS retrying_rows,
       q.leased                                             AS rows_in_work,
       i.changes                                            AS unqueued_changes,
       least(q.oldest, i.oldest)                            AS oldest_pending_at,
       coalesce(EXTRACT(epoch FROM pg_catalog.clock_timestamp() - least(q.oldest, i.oldest))::double precision, 0) AS lag_seconds,
       l.failed                                             AS failed_rows,
       coalesce(a.rows_done, 0)                             AS rows_done,
       a.rows_a_second                                      AS rows_a_second,
       CASE WHEN a.rows_a_second > 0::double precision THEN q.pending::double precision / a.rows_a_second END AS seconds_left,
       a.last_done_at                                       AS last_done_at,
       a.last_failed_at                                     AS last_failed_at,
       a.last_sqlstate                                      AS last_sqlstate,
       -- A message may hold a value of a row that not every reader may see.
       CASE WHEN rag.owns_pipeline(p.id) THEN a.last_error END AS last_error,
       w.workers                                            AS workers
FROM rag.pipeline AS p
LEFT JOIN rag.pipeline AS o ON o.id = p.replaces
LEFT JOIN rag.activity AS a ON a.pipeline = p.id
CROSS JOIN LATERAL (
    SELECT coalesce(pg_catalog.sum(pg_catalog.pg_stat_get_live_tuples(t.relid)), 0)::bigint AS rows
    -- Without locks, as pg_partition_tree takes them: somebody may be altering a partition.
    FROM (WITH RECURSIVE tree (relid) AS (
              SELECT p.source::oid
              UNION ALL
              SELECT i.inhrelid FROM tree JOIN pg_catalog.pg_inherits AS i ON i.inhparent = tree.relid
              JOIN pg_catalog.pg_class AS c ON c.oid = i.inhrelid AND c.relispartition)
          SELECT relid FROM tree) AS t) AS s
CROSS JOIN LATERAL (
    SELECT pg_catalog.count(*) AS pending, pg_catalog.count(*) FILTER (WHERE attempts > 0) AS retrying,
           pg_catalog.count(*) FILTER (WHERE leased_until > pg_catalog.clock_timestamp()) AS leased,
           pg_catalog.min(queued_at) AS oldest
    FROM rag.queue WHERE pipeline = p.id) AS q
CROSS JOIN LATERAL (
    SELECT coalesce(pg_catalog.sum(CASE kind WHEN 'keys' THEN pg_catalog.cardinality(keys) / p.key_columns ELSE 1 END), 0)::bigint AS changes,
           pg_catalog.min(queued_at) AS oldest,
           coalesce(pg_catalog.bool_or(kind = 'all'), false) AS has_all
    FROM rag.intake WHERE pipeline = p.id) AS i
CROSS JOIN LATERAL (SELECT pg_catalog.count(*) AS failed FROM rag.dead_letter WHERE pipeline = p.id) AS l
CROSS JOIN LATERAL (
    SELECT pg_catalog.count(*) AS workers FROM pg_catalog.pg_stat_activity
    WHERE backend_type = 'pg_rag worker' AND datname = pg_catalog.current_database()) AS w
WHERE pg_catalog.has_table_privilege(p.source, 'SELECT')
   OR pg_catalog.has_any_column_privilege(p.source, 'SELECT')
ORDER BY 1, p.generation;
COMMENT ON VIEW rag.pipeline_status IS 'how far each pipeline is; numbers of rows and chunks are estimates of the statistics';

CREATE VIEW rag.model_status AS
SELECT m.name AS model, m.dimension, m.max_tokens, m.builtin,
       (SELECT pg_catalog.count(*) FROM rag.pipeline AS p WHERE p.model = m.name) AS pipelines,
       coalesce(u.chunks, 0) AS chunks_embedded,
       coalesce(u.tokens, 0) AS tokens_embedded,
       u.last_used_at
FROM rag.model AS m
LEFT JOIN (SELECT p.model, pg_catalog.sum(a.chunks_embedded)::bigint AS chunks,
                  pg_catalog.sum(a.tokens_embedded)::bigint AS tokens,
                  pg_catalog.max(a.last_done_at) AS last_used_at
           FROM rag.activity AS a JOIN rag.pipeline AS p ON p.id = a.pipeline
           GROUP BY p.model) AS u ON u.model = m.name
ORDER BY 1;
COMMENT ON VIEW rag.model_status IS 'what each model has done for pipelines';

CREATE VIEW rag.stat_pipeline AS
SELECT coalesce(p.name, o.name) AS pipeline, p.generation, p.model,
       a.rows_done, a.chunks_made, a.chunks_embedded,
       a.chunks_made - a.chunks_embedded AS chunks_reused,
       a.tokens_embedded, a.rows_failed, p.created_at AS since, a.last_done_at
FROM rag.activity AS a
JOIN rag.pipeline AS p ON p.id = a.pipeline
LEFT JOIN rag.pipeline AS o ON o.id = p.replaces
WHERE pg_catalog.has_table_privilege(p.source, 'SELECT')
   OR pg_catalog.has_any_column_privilege(p.source, 'SELECT')
ORDER BY 1, 2;
COMMENT ON VIEW rag.stat_pipeline IS 'rows, chunks and tokens embedded for each pipeline since it was created';

GRANT SELECT ON rag.pipeline_status, rag.model_status, rag.stat_pipeline TO PUBLIC;
