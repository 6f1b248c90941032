-- Views for people and dashboards: figures only. Every reader of a source may see them who may see
-- all of its rows: figures of others are not for who is under row-level security. The views are
-- security barriers, or a condition of the caller's own would be asked of what they leave out.

CREATE VIEW rag.pipeline_status WITH (security_barrier = true) AS
SELECT coalesce(p.name, o.name)                             AS pipeline,
       p.source::text                                       AS source,
       p.refresh                                            AS refresh,
       p.generation                                         AS generation,
       CASE WHEN p.replaces IS NOT NULL THEN 'filling beside generation ' || o.generation::text
            WHEN p.paused THEN 'paused'
            WHEN p.not_before > pg_catalog.now() THEN 'waiting for its model'
            ELSE p.stage END                                AS state,
       p.model                                              AS model,
       CASE WHEN f.shown AND NOT e.are_elsewhere THEN s.rows END AS source_rows,
       CASE WHEN f.shown AND NOT e.are_elsewhere THEN s.chunks END AS chunks,
       CASE WHEN NOT f.shown OR e.are_elsewhere THEN NULL
            WHEN i.has_all THEN 0
            WHEN q.pending + l.failed = 0::bigint THEN 1
            -- The number of rows is an estimate, and may be none: there are at least as many as are known to be missing.
            ELSE 1::double precision - (q.pending + l.failed)::double precision
                                       / greatest(s.rows, q.pending + l.failed)::double precision END AS coverage,
       CASE WHEN f.shown THEN q.pending END                 AS pending_rows,
       CASE WHEN f.shown THEN q.retrying END                AS retrying_rows,
       CASE WHEN f.shown THEN q.leased END                  AS rows_in_work,
       CASE WHEN f.shown THEN i.changes END                 AS unqueued_changes,
       CASE WHEN f.shown THEN least(q.oldest, i.oldest) END AS oldest_pending_at,
       CASE WHEN f.shown
            THEN coalesce(EXTRACT(epoch FROM pg_catalog.clock_timestamp() - least(q.oldest, i.oldest))::double precision, 0)
            END                                             AS lag_seconds,
       CASE WHEN f.shown THEN l.failed END                  AS failed_rows,
       CASE WHEN f.shown THEN coalesce(a.rows_done, 0) END  AS rows_done,
       CASE WHEN f.shown THEN a.rows_a_second END           AS rows_a_second,
       CASE WHEN f.shown AND a.rows_a_second > 0::double precision
             THEN q.pending::double precision / a.rows_a_second END AS seconds_left,
       CASE WHEN f.shown THEN a.last_done_at END            AS last_done_at,
       CASE WHEN f.shown THEN m.missing END                 AS missing_derivations,
       CASE WHEN f.shown THEN a.last_failed_at END          AS last_failed_at,
       CASE WHEN f.shown THEN a.last_sqlstate END           AS last_sqlstate,
       -- A message may hold a value of a row that not every reader may see.
       CASE WHEN rag.owns_pipeline(p.id) THEN a.last_error END AS last_error,
       w.workers                                            AS workers
FROM rag.pipeline AS p
LEFT JOIN rag.pipeline AS o ON o.id = p.replaces
LEFT JOIN rag.activity AS a ON a.pipeline = p.id
CROSS JOIN LATERAL (SELECT NOT rag.hides_figures(p.source) AS shown) AS f
CROSS JOIN LATERAL (SELECT EXISTS (SELECT FROM rag.shard AS h WHERE h.pipeline = p.id) AS are_elsewhere) AS e
CROSS JOIN LATERAL (
    SELECT coalesce(pg_catalog.sum(r.rows) FILTER (WHERE t.is_source), 0)::bigint AS rows,
           coalesce(pg_catalog.sum(r.rows) FILTER (WHERE NOT t.is_source), 0)::bigint AS chunks
    -- Without locks, as pg_partition_tree takes them: somebody may be altering a partition.
    FROM (WITH RECURSIVE tree AS (
              SELECT p.source::oid AS relid
              UNION ALL
              SELECT i.inhrelid FROM tree JOIN pg_catalog.pg_inherits AS i ON i.inhparent = tree.relid
              JOIN pg_catalog.pg_class AS c ON c.oid = i.inhrelid AND c.relispartition)
          SELECT relid, true AS is_source FROM tree
          UNION ALL
          SELECT p.chunk_table::oid, false) AS t
    -- What VACUUM and ANALYZE count of a partitioned table stands with its partitions, too.
    JOIN pg_catalog.pg_class AS c ON c.oid = t.relid AND c.relkind <> 'p'
    -- The statistics know all rows once a count has come to them. Before that they know those that have come and gone since
    -- they were reset; on a standby, and in a copy of the database, that is none. The catalog has the last count, which a
    -- crash and a failover survive, and -1 where there was none. A session brings its statistics some seconds after its
    -- commit, so a count may find nothing that is to come.
    CROSS JOIN LATERAL (
        SELECT CASE WHEN coalesce(pg_catalog.pg_stat_get_last_vacuum_time(c.oid),
                                  pg_catalog.pg_stat_get_last_autovacuum_time(c.oid),
                                  pg_catalog.pg_stat_get_last_analyze_time(c.oid),
                                  pg_catalog.pg_stat_get_last_autoanalyze_time(c.oid)) IS NOT NULL
                         AND pg_catalog.pg_stat_get_live_tuples(c.oid) + pg_catalog.pg_stat_get_dead_tuples(c.oid) > 0::bigint
                    THEN pg_catalog.pg_stat_get_live_tuples(c.oid)
                    ELSE greatest(pg_catalog.pg_stat_get_live_tuples(c.oid), c.reltuples::bigint, 0::bigint) END AS rows) AS r) AS s
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
CROSS JOIN LATERAL (SELECT pg_catalog.sum(d.missing)::bigint AS missing FROM rag.derivation AS d WHERE d.pipeline = p.id) AS m
CROSS JOIN LATERAL (
    SELECT pg_catalog.count(*) AS workers FROM pg_catalog.pg_stat_activity
    WHERE backend_type = 'pg_rag worker' AND datname = pg_catalog.current_database()) AS w
WHERE pg_catalog.has_table_privilege(p.source, 'SELECT')
   OR pg_catalog.has_any_column_privilege(p.source, 'SELECT')
ORDER BY 1, p.generation;
COMMENT ON VIEW rag.pipeline_status IS 'how far each pipeline is, and each new generation of one; figures are NULL where rows of the source may be hidden from the caller';
COMMENT ON COLUMN rag.pipeline_status.pipeline IS 'name of the pipeline; of a new generation, of the pipeline whose place it will take';
COMMENT ON COLUMN rag.pipeline_status.source IS 'table whose rows are chunked and embedded';
COMMENT ON COLUMN rag.pipeline_status.refresh IS 'async: workers embed changes soon after their commit; sync: the statement itself does; manual: CALL rag_run does';
COMMENT ON COLUMN rag.pipeline_status.generation IS 'number of the generation of its chunks, from 1';
COMMENT ON COLUMN rag.pipeline_status.state IS 'live, filling, filling beside generation N, paused, or waiting for its model';
COMMENT ON COLUMN rag.pipeline_status.model IS 'embedding model, a name of rag.model';
COMMENT ON COLUMN rag.pipeline_status.source_rows IS 'rows of the source, an estimate of the statistics or, where these know less, of the last VACUUM or ANALYZE; NULL where rows may be hidden from the caller, or are on other servers';
COMMENT ON COLUMN rag.pipeline_status.chunks IS 'chunks, an estimate of the statistics or, where these know less, of the last VACUUM or ANALYZE; NULL where rows may be hidden from the caller, or are on other servers';
COMMENT ON COLUMN rag.pipeline_status.coverage IS 'share of the source rows that is neither pending nor failed, from 0 to 1: 1 only if no row is, 0 before workers have looked for all rows and where nothing else is known of the source; NULL where rows may be hidden from the caller, or are on other servers';
COMMENT ON COLUMN rag.pipeline_status.pending_rows IS 'rows in the queue; NULL where rows may be hidden from the caller';
COMMENT ON COLUMN rag.pipeline_status.retrying_rows IS 'rows in the queue that have failed before; NULL where rows may be hidden from the caller';
COMMENT ON COLUMN rag.pipeline_status.rows_in_work IS 'rows in the queue that a worker has in hand; NULL where rows may be hidden from the caller';
COMMENT ON COLUMN rag.pipeline_status.unqueued_changes IS 'changes that no worker has looked at yet; NULL where rows may be hidden from the caller';
COMMENT ON COLUMN rag.pipeline_status.oldest_pending_at IS 'when the oldest change happened that cannot be found yet; NULL where there is none, or rows may be hidden from the caller';
COMMENT ON COLUMN rag.pipeline_status.lag_seconds IS 'age of that change in seconds, 0 where there is none; NULL where rows may be hidden from the caller';
COMMENT ON COLUMN rag.pipeline_status.failed_rows IS 'rows in rag.dead_letter; NULL where rows may be hidden from the caller';
COMMENT ON COLUMN rag.pipeline_status.rows_done IS 'rows that rag_create_pipeline, rag_run and workers have embedded for this generation; NULL where rows may be hidden from the caller';
COMMENT ON COLUMN rag.pipeline_status.rows_a_second IS 'rows a second that a worker has embedded of late; NULL before the first batch, or where rows may be hidden from the caller';
COMMENT ON COLUMN rag.pipeline_status.seconds_left IS 'about how many seconds one worker needs for the pending rows; NULL where rows_a_second is NULL or 0';
COMMENT ON COLUMN rag.pipeline_status.last_done_at IS 'when a batch was done last; NULL before the first one, or where rows may be hidden from the caller';
COMMENT ON COLUMN rag.pipeline_status.missing_derivations IS 'chunks about which language models are still to be asked, and documents that have changed since they were summed up, or never were, and 1 where communities are to be made, as in rag.derivation_status; NULL where nothing is derived, or rows may be hidden from the caller';
COMMENT ON COLUMN rag.pipeline_status.last_failed_at IS 'when something failed last, such as a row, a call of a model or the build of an index; NULL if nothing has, or all that waited for it has been made since, or where rows may be hidden from the caller';
COMMENT ON COLUMN rag.pipeline_status.last_sqlstate IS 'SQLSTATE of that failure; NULL if there was none, or where rows may be hidden from the caller';
COMMENT ON COLUMN rag.pipeline_status.last_error IS 'message of that failure; NULL if there was none, or for a caller that does not own the source';
COMMENT ON COLUMN rag.pipeline_status.workers IS 'pipeline workers that run in this database; 0 for a caller that may not read all statistics';

CREATE VIEW rag.derivation_status WITH (security_barrier = true) AS
SELECT coalesce(p.name, o.name) AS pipeline, p.generation, d.kind, d.options OPERATOR(pg_catalog.->>) 'llm'::text AS llm,
       d.relation::text AS relation,
       CASE WHEN p.paused THEN 'paused'
            WHEN d.missing IS NULL THEN 'waiting'
            WHEN d.missing > 0 THEN 'filling'
            ELSE 'live' END AS state,
       CASE WHEN f.shown THEN d.missing END AS missing,
       CASE WHEN f.shown THEN d.done END AS done,
       CASE WHEN f.shown THEN d.empty END AS empty,
       CASE WHEN f.shown THEN d.unreadable END AS unreadable,
       CASE WHEN f.shown THEN d.dropped END AS dropped,
       CASE WHEN f.shown THEN d.last_done_at END AS last_done_at
FROM rag.derivation AS d
JOIN rag.pipeline AS p ON p.id = d.pipeline
LEFT JOIN rag.pipeline AS o ON o.id = p.replaces
CROSS JOIN LATERAL (SELECT NOT rag.hides_figures(p.source) AS shown) AS f
-- Mentions and relations are made with their chunks, by nobody who would have to be asked.
WHERE d.kind NOT IN ('mentions', 'relations')
  AND (pg_catalog.has_table_privilege(p.source, 'SELECT')
       OR pg_catalog.has_any_column_privilege(p.source, 'SELECT'))
ORDER BY 1, 2, 3;
COMMENT ON VIEW rag.derivation_status IS 'what is made of the chunks of each pipeline in the background, and how far that is; figures are NULL where rows of the source may be hidden from the caller';
COMMENT ON COLUMN rag.derivation_status.pipeline IS 'name of the pipeline; of a new generation, of the pipeline whose place it will take';
COMMENT ON COLUMN rag.derivation_status.generation IS 'number of the generation of its chunks, from 1';
COMMENT ON COLUMN rag.derivation_status.kind IS 'context_lines, representations, tree, extracted_relations or communities';
COMMENT ON COLUMN rag.derivation_status.llm IS 'language model that makes it: a foreign server; NULL of communities, and of trees that quote, which need none';
COMMENT ON COLUMN rag.derivation_status.relation IS 'table where it is kept';
COMMENT ON COLUMN rag.derivation_status.state IS 'waiting: no worker has begun; filling; live: nothing was missing when a worker looked last; paused';
COMMENT ON COLUMN rag.derivation_status.missing IS 'chunks about which the language model is still to be asked, and of tree, documents that have changed since they were summed up, or never were, counted up to 1,000,000 when a worker began, and of communities, 1 where they are to be made; NULL before that, or where rows may be hidden from the caller';
COMMENT ON COLUMN rag.derivation_status.done IS 'chunks about which it has been asked, those included that it refused to read, and of tree, documents that have been summed up, and of communities, how often they have been made; NULL where rows may be hidden from the caller';
COMMENT ON COLUMN rag.derivation_status.empty IS 'those of them of which nothing came that can be used; NULL where rows may be hidden from the caller';
COMMENT ON COLUMN rag.derivation_status.unreadable IS 'of extracted_relations, those of them about which no reply could be read, until rag_retry has them asked about again; NULL where rows may be hidden from the caller';
COMMENT ON COLUMN rag.derivation_status.dropped IS 'of extracted_relations, those that the language model has said and the text does not state; NULL where rows may be hidden from the caller';
COMMENT ON COLUMN rag.derivation_status.last_done_at IS 'when something was made last; NULL before the first time, or where rows may be hidden from the caller';

CREATE VIEW rag.model_status WITH (security_barrier = true) AS
SELECT m.name AS model, m.dimension, m.max_tokens, m.builtin,
       coalesce(u.pipelines, 0) AS pipelines,
       coalesce(u.chunks, 0) AS chunks_embedded,
       coalesce(u.tokens, 0) AS tokens_embedded,
       u.last_used_at
FROM rag.model AS m
LEFT JOIN (SELECT p.model, pg_catalog.count(*) AS pipelines,
                  pg_catalog.sum(a.chunks_embedded) FILTER (WHERE f.shown)::bigint AS chunks,
                  pg_catalog.sum(a.tokens_embedded) FILTER (WHERE f.shown)::bigint AS tokens,
                  pg_catalog.max(a.last_done_at) FILTER (WHERE f.shown) AS last_used_at
           FROM rag.pipeline AS p LEFT JOIN rag.activity AS a ON a.pipeline = p.id
           CROSS JOIN LATERAL (SELECT NOT rag.hides_figures(p.source) AS shown) AS f
           WHERE pg_catalog.has_table_privilege(p.source, 'SELECT')
              OR pg_catalog.has_any_column_privilege(p.source, 'SELECT')
           GROUP BY p.model) AS u ON u.model = m.name
ORDER BY 1;
COMMENT ON VIEW rag.model_status IS 'what each model has done for the pipelines that the caller may see';
COMMENT ON COLUMN rag.model_status.model IS 'name of the model';
COMMENT ON COLUMN rag.model_status.dimension IS 'how many numbers each of its vectors has; NULL for a reranker';
COMMENT ON COLUMN rag.model_status.max_tokens IS 'longest input in tokens, special tokens included';
COMMENT ON COLUMN rag.model_status.builtin IS 'whether it comes with the package';
COMMENT ON COLUMN rag.model_status.pipelines IS 'how many pipelines that the caller may see use it, new generations included';
COMMENT ON COLUMN rag.model_status.chunks_embedded IS 'chunks that rag_create_pipeline, rag_run and workers have embedded for these pipelines, less those where rows may be hidden from the caller';
COMMENT ON COLUMN rag.model_status.tokens_embedded IS 'tokens of chunks_embedded';
COMMENT ON COLUMN rag.model_status.last_used_at IS 'when a batch was done last for these pipelines, less those where rows may be hidden from the caller; NULL if none was';

CREATE VIEW rag.stat_pipeline WITH (security_barrier = true) AS
SELECT coalesce(p.name, o.name) AS pipeline, p.generation, p.model,
       CASE WHEN f.shown THEN a.rows_done END AS rows_done,
       CASE WHEN f.shown THEN a.chunks_made END AS chunks_made,
       CASE WHEN f.shown THEN a.chunks_embedded END AS chunks_embedded,
       CASE WHEN f.shown THEN a.chunks_made - a.chunks_embedded END AS chunks_reused,
       CASE WHEN f.shown THEN a.tokens_embedded END AS tokens_embedded,
       CASE WHEN f.shown THEN a.rows_failed END AS rows_failed,
       p.created_at AS since,
       CASE WHEN f.shown THEN a.last_done_at END AS last_done_at
FROM rag.activity AS a
JOIN rag.pipeline AS p ON p.id = a.pipeline
LEFT JOIN rag.pipeline AS o ON o.id = p.replaces
CROSS JOIN LATERAL (SELECT NOT rag.hides_figures(p.source) AS shown) AS f
WHERE pg_catalog.has_table_privilege(p.source, 'SELECT')
   OR pg_catalog.has_any_column_privilege(p.source, 'SELECT')
ORDER BY 1, 2;
COMMENT ON VIEW rag.stat_pipeline IS 'rows, chunks and tokens that rag_create_pipeline, rag_run and workers have embedded for each pipeline since it was created';
COMMENT ON COLUMN rag.stat_pipeline.pipeline IS 'name of the pipeline; of a new generation, of the pipeline whose place it will take';
COMMENT ON COLUMN rag.stat_pipeline.generation IS 'number of the generation of its chunks, from 1';
COMMENT ON COLUMN rag.stat_pipeline.model IS 'embedding model, a name of rag.model';
COMMENT ON COLUMN rag.stat_pipeline.rows_done IS 'rows of the source that were embedded; NULL where rows may be hidden from the caller';
COMMENT ON COLUMN rag.stat_pipeline.chunks_made IS 'chunks of these rows; NULL where rows may be hidden from the caller';
COMMENT ON COLUMN rag.stat_pipeline.chunks_embedded IS 'those of the chunks that did not keep the vector that they had; NULL where rows may be hidden from the caller';
COMMENT ON COLUMN rag.stat_pipeline.chunks_reused IS 'those of the chunks that kept the vector that they had; NULL where rows may be hidden from the caller';
COMMENT ON COLUMN rag.stat_pipeline.tokens_embedded IS 'tokens of chunks_embedded; NULL where rows may be hidden from the caller';
COMMENT ON COLUMN rag.stat_pipeline.rows_failed IS 'rows that went to rag.dead_letter; NULL where rows may be hidden from the caller';
COMMENT ON COLUMN rag.stat_pipeline.since IS 'when the generation was created';
COMMENT ON COLUMN rag.stat_pipeline.last_done_at IS 'when a batch was done last; NULL before the first one, or where rows may be hidden from the caller';

GRANT SELECT ON rag.pipeline_status, rag.derivation_status, rag.model_status, rag.stat_pipeline TO PUBLIC;
