-- What DDL has done to pipelines and their sources.

-- name: tables_altered
-- In an event trigger: the relations that have just been altered.
SELECT d.objid FROM pg_catalog.pg_event_trigger_ddl_commands() AS d
WHERE d.classid OPERATOR(pg_catalog.=) 'pg_catalog.pg_class'::pg_catalog.regclass

-- name: tables_altered_and_below
-- In an event trigger: the relations that have just been altered, and those that inherit their columns.
WITH RECURSIVE below AS (
    SELECT d.objid AS relid FROM pg_catalog.pg_event_trigger_ddl_commands() AS d
    WHERE d.classid OPERATOR(pg_catalog.=) 'pg_catalog.pg_class'::pg_catalog.regclass
    UNION
    SELECT i.inhrelid FROM below AS b JOIN pg_catalog.pg_inherits AS i ON i.inhparent OPERATOR(pg_catalog.=) b.relid
)
SELECT b.relid FROM below AS b

-- name: pipelines_altered
-- In an event trigger: pipelines whose partitioned source, or a part of it, has just been made or
-- altered, and whether rows may have come or gone with that.
SELECT p.id, pg_catalog.bool_or(d.command_tag = 'ALTER TABLE')
FROM pg_catalog.pg_event_trigger_ddl_commands() AS d
JOIN pg_catalog.pg_class AS c ON c.oid = d.objid AND (c.relkind = 'p' OR c.relispartition)
JOIN rag.pipeline AS p
  ON p.source = d.objid OR p.source IN (SELECT relid FROM pg_catalog.pg_partition_ancestors(d.objid))
WHERE d.classid = 'pg_catalog.pg_class'::regclass
GROUP BY p.id

-- name: pipelines_recomputed
-- In an event trigger: pipelines whose source has just been altered, or a table that it is a part of or that is a part
-- of it.
WITH RECURSIVE altered AS (
    SELECT d.objid AS relid FROM pg_catalog.pg_event_trigger_ddl_commands() AS d
    WHERE d.classid OPERATOR(pg_catalog.=) 'pg_catalog.pg_class'::pg_catalog.regclass
), below AS (
    SELECT a.relid FROM altered AS a
    UNION
    SELECT i.inhrelid FROM below AS b JOIN pg_catalog.pg_inherits AS i ON i.inhparent OPERATOR(pg_catalog.=) b.relid
), above AS (
    SELECT a.relid FROM altered AS a
    UNION
    SELECT i.inhparent FROM above AS b JOIN pg_catalog.pg_inherits AS i ON i.inhrelid OPERATOR(pg_catalog.=) b.relid
)
SELECT p.id FROM rag.pipeline AS p
WHERE EXISTS (SELECT FROM below AS b WHERE b.relid OPERATOR(pg_catalog.=) p.source::pg_catalog.oid)
   OR EXISTS (SELECT FROM above AS b WHERE b.relid OPERATOR(pg_catalog.=) p.source::pg_catalog.oid)
ORDER BY p.id

-- name: sources_with_new_child
-- In an event trigger: sources, by their names, of which a table has just become a child and no partition.
SELECT c.oid::pg_catalog.regclass::pg_catalog.text
FROM pg_catalog.pg_event_trigger_ddl_commands() AS d
JOIN pg_catalog.pg_inherits AS i ON i.inhrelid OPERATOR(pg_catalog.=) d.objid
JOIN pg_catalog.pg_class AS c ON c.oid OPERATOR(pg_catalog.=) i.inhparent AND c.relkind OPERATOR(pg_catalog.=) 'r'
JOIN rag.pipeline AS p ON p.source::pg_catalog.oid OPERATOR(pg_catalog.=) c.oid
WHERE d.classid OPERATOR(pg_catalog.=) 'pg_catalog.pg_class'::pg_catalog.regclass
ORDER BY c.oid

-- name: pipelines_lost
-- In an event trigger: pipelines that have just lost their source, their content or their chunks.
SELECT DISTINCT p.id
FROM pg_catalog.pg_event_trigger_dropped_objects() AS d
JOIN rag.pipeline AS p ON d.objid IN (p.source, p.content_view, p.chunk_table)
WHERE d.classid = 'pg_catalog.pg_class'::regclass AND d.objsubid = 0

-- name: pipelines_without_shard
-- In an event trigger: pipelines that have just lost a foreign table of one of their shards.
SELECT DISTINCT s.pipeline
FROM pg_catalog.pg_event_trigger_dropped_objects() AS d
JOIN rag.shard AS s ON d.objid OPERATOR(pg_catalog.=) ANY (ARRAY[s.relation, s.description]::pg_catalog.oid[])
WHERE d.classid OPERATOR(pg_catalog.=) 'pg_catalog.pg_class'::pg_catalog.regclass AND d.objsubid OPERATOR(pg_catalog.=) 0

-- name: pipelines_perhaps_smaller
-- In an event trigger: pipelines that have just lost a part of their source, which had the trigger that
-- each part has. A trigger that is dropped by itself takes no rows with it. Where no trigger of the name
-- is left, as after the pipeline was renamed, all that have parts may have lost one; unless it went with
-- the whole source of another pipeline.
WITH lost AS (
    SELECT DISTINCT d.address_names[3] AS name
    FROM pg_catalog.pg_event_trigger_dropped_objects() AS d
    WHERE d.object_type = 'trigger' AND NOT d.original AND d.address_names[3] LIKE 'rag\_%\_truncate'
), known AS (
    SELECT p.id, l.name
    FROM lost AS l
    JOIN pg_catalog.pg_trigger AS g ON g.tgname = l.name
    JOIN pg_catalog.pg_proc AS f ON f.oid = g.tgfoid AND f.proname = 'capture'
    JOIN rag.pipeline AS p ON pg_catalog.encode(g.tgargs, 'escape') = pg_catalog.format(E'%s\\000', p.id)
)
SELECT k.id FROM known AS k
UNION
SELECT p.id
FROM rag.pipeline AS p
JOIN pg_catalog.pg_class AS c ON c.oid = p.source AND c.relkind = 'p'
WHERE EXISTS (SELECT FROM lost AS l WHERE l.name NOT IN (SELECT k.name FROM known AS k))
  AND NOT EXISTS (SELECT FROM pg_catalog.pg_event_trigger_dropped_objects() AS d
                  JOIN rag.pipeline AS s ON s.source = d.objid
                  WHERE d.classid = 'pg_catalog.pg_class'::regclass)

-- name: pipelines_to_give
-- Pipelines whose source belongs to another role than their chunks, and that role, without quotes.
SELECT p.id, pg_catalog.pg_get_userbyid(s.relowner)::pg_catalog.text
FROM rag.pipeline AS p
JOIN pg_catalog.pg_class AS s ON s.oid = p.source
JOIN pg_catalog.pg_class AS c ON c.oid = p.chunk_table
WHERE s.relowner <> c.relowner
