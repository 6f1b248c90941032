-- In an event trigger: pipelines whose partitioned source, or a part of it, has just been made or
-- altered, and whether rows may have come or gone with that. A dump has the triggers of partitions, too.
SELECT p.id, pg_catalog.bool_or(d.command_tag = 'ALTER TABLE')
FROM pg_catalog.pg_event_trigger_ddl_commands() AS d
JOIN pg_catalog.pg_class AS c ON c.oid = d.objid AND (c.relkind = 'p' OR c.relispartition)
JOIN rag.pipeline AS p
  ON p.source = d.objid OR p.source IN (SELECT relid FROM pg_catalog.pg_partition_ancestors(d.objid))
WHERE d.classid = 'pg_catalog.pg_class'::regclass
  AND NOT rag.is_being_restored()
GROUP BY p.id
