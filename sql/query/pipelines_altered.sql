-- In an event trigger: pipelines whose partitioned source, or a part of it, has just been made or
-- altered, and whether rows may have come or gone with that. One whose triggers are still to be restored
-- from a dump, of which this is the last, has it restored with those of its partitions.
SELECT p.id, pg_catalog.bool_or(d.command_tag = 'ALTER TABLE')
FROM pg_catalog.pg_event_trigger_ddl_commands() AS d
JOIN pg_catalog.pg_class AS c ON c.oid = d.objid AND (c.relkind = 'p' OR c.relispartition)
JOIN rag.pipeline AS p
  ON p.source = d.objid OR p.source IN (SELECT relid FROM pg_catalog.pg_partition_ancestors(d.objid))
WHERE d.classid = 'pg_catalog.pg_class'::regclass
  AND EXISTS (SELECT FROM pg_catalog.pg_trigger AS g
              WHERE g.tgrelid = p.source AND g.tgname = pg_catalog.format('rag_%s_update', p.id))
GROUP BY p.id
