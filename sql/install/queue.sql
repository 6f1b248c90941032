-- What waits to be embedded. Sessions append to rag.intake, workers turn that into rag.queue.

CREATE TABLE rag.intake (
    pipeline   integer NOT NULL,
    kind       text NOT NULL,
    keys       text[] NOT NULL,
    queued_at  timestamptz NOT NULL
) WITH (toast_tuple_target = 8160, autovacuum_vacuum_scale_factor = 0, autovacuum_vacuum_threshold = 1000,
        -- Else VACUUM would lock out those who commit.
        vacuum_truncate = off);
COMMENT ON TABLE rag.intake IS 'changes of source rows, written by their transactions; never updated, so that no transaction waits for a worker';
COMMENT ON COLUMN rag.intake.pipeline IS 'id of the pipeline in rag.pipeline';
COMMENT ON COLUMN rag.intake.kind IS 'keys: these rows; all: every row of the source; missing: rows without a chunk, and chunks whose row is gone; gone: the latter; keyless: rows of which a column of the key is NULL, or was';
COMMENT ON COLUMN rag.intake.keys IS 'the key columns as text, row after row; empty where kind is not keys';
COMMENT ON COLUMN rag.intake.queued_at IS 'when the change was noted';

CREATE SEQUENCE rag.change;
COMMENT ON SEQUENCE rag.change IS 'numbers the changes in the order in which workers noticed them';

CREATE TABLE rag.queue (
    pipeline     integer NOT NULL,
    key          text[] NOT NULL,
    change       bigint NOT NULL,
    queued_at    timestamptz NOT NULL,
    changed_at   timestamptz,
    attempts     integer NOT NULL DEFAULT 0,
    next_attempt timestamptz,
    lease        bigint,
    leased_until timestamptz,
    sqlstate     text,
    message      text,
    fill         boolean NOT NULL DEFAULT false,
    PRIMARY KEY (pipeline, key)
) WITH (autovacuum_vacuum_scale_factor = 0.05, autovacuum_vacuum_threshold = 1000, vacuum_truncate = off);
CREATE INDEX queue_order ON rag.queue (pipeline, (attempts > 0), fill, change);
COMMENT ON TABLE rag.queue IS 'rows of source tables that wait to be embedded, one a pipeline and key';
COMMENT ON COLUMN rag.queue.pipeline IS 'id of the pipeline in rag.pipeline';
COMMENT ON COLUMN rag.queue.key IS 'the key columns of the row as text';
COMMENT ON COLUMN rag.queue.change IS 'number of the last change; a worker that finds another one at its end leaves the row in the queue';
COMMENT ON COLUMN rag.queue.queued_at IS 'when the oldest change happened that cannot be found yet';
COMMENT ON COLUMN rag.queue.changed_at IS 'when the oldest change happened since it was leased; NULL if there was none';
COMMENT ON COLUMN rag.queue.attempts IS 'how often embedding this row has failed since it changed, from 0';
COMMENT ON COLUMN rag.queue.next_attempt IS 'when it is tried again after a failure; NULL if it need not wait';
COMMENT ON COLUMN rag.queue.lease IS 'worker that has it in hand until leased_until: a number that begins with the process ID, odd if there is no other row; 0: none, but it is to be tried alone; NULL: none';
COMMENT ON COLUMN rag.queue.leased_until IS 'when the lease ends; NULL without a lease of a worker';
COMMENT ON COLUMN rag.queue.sqlstate IS 'SQLSTATE of its last failure; NULL if it has not failed';
COMMENT ON COLUMN rag.queue.message IS 'message of its last failure; NULL if it has not failed';
COMMENT ON COLUMN rag.queue.fill IS 'whether it was found when all rows were looked through; changed rows go before such';

CREATE FUNCTION rag.is_held(lease bigint, leased_until timestamptz) RETURNS boolean
STABLE PARALLEL SAFE LANGUAGE sql
BEGIN ATOMIC
    SELECT coalesce(leased_until > pg_catalog.clock_timestamp()
                    AND EXISTS (SELECT FROM pg_catalog.pg_stat_get_activity((lease >> 32)::integer)), false);
END;
COMMENT ON FUNCTION rag.is_held IS 'whether the process that has a lease is there and has not run out of time';

-- The primary key of a table and the triggers of a source are restored when their rows are there. A worker
-- that came earlier would miss rows, and its own would be in the way of those of the dump.
CREATE FUNCTION rag.is_whole(pipeline integer, source regclass, chunk_table regclass, beside regclass DEFAULT NULL)
RETURNS boolean STABLE PARALLEL SAFE LANGUAGE sql
BEGIN ATOMIC
    SELECT EXISTS (SELECT FROM pg_catalog.pg_index AS i WHERE i.indrelid = chunk_table::oid AND i.indisprimary)
       AND EXISTS (SELECT FROM pg_catalog.pg_trigger AS g
                   JOIN pg_catalog.pg_proc AS f ON f.oid = g.tgfoid AND f.proname = 'capture'
                   -- An UPDATE trigger for each row, as src/pg/pipeline/triggers.rs makes it.
                   WHERE g.tgrelid = source::oid AND g.tgtype = 17::smallint
                     AND pg_catalog.encode(g.tgargs, 'escape') = pg_catalog.format(E'%s\\000', pipeline))
       AND (beside IS NULL
            OR EXISTS (SELECT FROM pg_catalog.pg_index AS i WHERE i.indrelid = beside::oid AND i.indisprimary));
END;
COMMENT ON FUNCTION rag.is_whole IS 'whether a pipeline is not one that is just being restored from a dump';

CREATE TABLE rag.dead_letter (
    pipeline  integer NOT NULL,
    key       text[] NOT NULL,
    attempts  integer NOT NULL,
    sqlstate  text NOT NULL,
    message   text NOT NULL,
    queued_at timestamptz NOT NULL,
    failed_at timestamptz NOT NULL DEFAULT now(),
    PRIMARY KEY (pipeline, key)
);
COMMENT ON TABLE rag.dead_letter IS 'rows that could not be embedded; rag_retry queues them again';
COMMENT ON COLUMN rag.dead_letter.pipeline IS 'id of the pipeline in rag.pipeline';
COMMENT ON COLUMN rag.dead_letter.key IS 'the key columns of the row as text; those that are NULL where a row has no key, and several such rows may be one here';
COMMENT ON COLUMN rag.dead_letter.attempts IS 'how often embedding this row has failed; 0 if it has no key';
COMMENT ON COLUMN rag.dead_letter.sqlstate IS 'SQLSTATE of the last failure';
COMMENT ON COLUMN rag.dead_letter.message IS 'message of the last failure';
COMMENT ON COLUMN rag.dead_letter.queued_at IS 'when the oldest change happened that could not be embedded';
COMMENT ON COLUMN rag.dead_letter.failed_at IS 'when the last attempt failed';

CREATE TABLE rag.activity (
    pipeline        integer PRIMARY KEY,
    rows_done       bigint NOT NULL DEFAULT 0,
    chunks_made     bigint NOT NULL DEFAULT 0,
    chunks_embedded bigint NOT NULL DEFAULT 0,
    tokens_embedded bigint NOT NULL DEFAULT 0,
    rows_failed     bigint NOT NULL DEFAULT 0,
    rows_a_second   double precision,
    last_done_at    timestamptz,
    last_failed_at  timestamptz,
    last_sqlstate   text,
    last_error      text,
    holds_derivations boolean NOT NULL DEFAULT false
) WITH (fillfactor = 50);
COMMENT ON TABLE rag.activity IS 'what rag_create_pipeline, rag_run and workers have done for each generation of a pipeline since it was created';
COMMENT ON COLUMN rag.activity.pipeline IS 'id of the pipeline in rag.pipeline';
COMMENT ON COLUMN rag.activity.rows_done IS 'rows of the source that were embedded';
COMMENT ON COLUMN rag.activity.chunks_made IS 'chunks of these rows';
COMMENT ON COLUMN rag.activity.chunks_embedded IS 'those of the chunks that did not keep the vector that they had';
COMMENT ON COLUMN rag.activity.tokens_embedded IS 'tokens of chunks_embedded';
COMMENT ON COLUMN rag.activity.rows_failed IS 'rows that went to rag.dead_letter';
COMMENT ON COLUMN rag.activity.rows_a_second IS 'rows a second of late, of which the last batch makes three tenths; NULL before the first batch';
COMMENT ON COLUMN rag.activity.last_done_at IS 'when a batch was done last; NULL before the first one';
COMMENT ON COLUMN rag.activity.last_failed_at IS 'when something failed last, such as a row, a call of a model or the build of an index; NULL if nothing has, or all that waited for it has been made since';
COMMENT ON COLUMN rag.activity.last_sqlstate IS 'SQLSTATE of that failure; NULL if there was none';
COMMENT ON COLUMN rag.activity.last_error IS 'message of that failure; NULL if there was none';
COMMENT ON COLUMN rag.activity.holds_derivations IS 'whether what is made of the chunks in the background waits because of that failure, as while a provider is busy: it is forgotten once all of that is made';

-- Keys and messages of rows are their owner's; the status views show figures to every reader.
ALTER TABLE rag.intake ENABLE ROW LEVEL SECURITY;
ALTER TABLE rag.queue ENABLE ROW LEVEL SECURITY;
ALTER TABLE rag.dead_letter ENABLE ROW LEVEL SECURITY;
ALTER TABLE rag.activity ENABLE ROW LEVEL SECURITY;

CREATE FUNCTION rag.owns_pipeline(id integer) RETURNS boolean
STABLE PARALLEL SAFE LANGUAGE sql SET row_security = on
BEGIN ATOMIC
    SELECT EXISTS (SELECT FROM rag.pipeline AS p
                   JOIN pg_catalog.pg_class AS c ON c.oid = p.source::oid
                   WHERE p.id = owns_pipeline.id AND pg_catalog.pg_has_role(c.relowner, 'USAGE'));
END;
COMMENT ON FUNCTION rag.owns_pipeline IS 'whether the caller owns the source table of a pipeline';

CREATE POLICY owners ON rag.intake FOR SELECT USING (rag.owns_pipeline(pipeline));
CREATE POLICY owners ON rag.queue FOR SELECT USING (rag.owns_pipeline(pipeline));
CREATE POLICY owners ON rag.dead_letter FOR SELECT USING (rag.owns_pipeline(pipeline));
CREATE POLICY owners ON rag.activity FOR SELECT USING (rag.owns_pipeline(pipeline));
GRANT SELECT ON rag.intake, rag.queue, rag.dead_letter, rag.activity TO PUBLIC;

SELECT pg_catalog.pg_extension_config_dump('rag.intake', '');
SELECT pg_catalog.pg_extension_config_dump('rag.change', '');
SELECT pg_catalog.pg_extension_config_dump('rag.queue', '');
SELECT pg_catalog.pg_extension_config_dump('rag.dead_letter', '');
SELECT pg_catalog.pg_extension_config_dump('rag.activity', '');
