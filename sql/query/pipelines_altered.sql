-- In an event trigger: pipelines whose partitioned source, or a part of it, has just been altered.
SELECT DISTINCT p.id
FROM pg_catalog.pg_event_trigger_ddl_commands() AS d
JOIN pg_catalog.pg_class AS c ON c.oid = d.objid AND (c.relkind = 'p' OR c.relispartition)
JOIN rag.pipeline AS p
  ON p.source = d.objid OR p.source IN (SELECT relid FROM pg_catalog.pg_partition_ancestors(d.objid))
WHERE d.classid = 'pg_catalog.pg_class'::regclass AND p.source::oid <> 0
