-- In an event trigger: the relations that have just been altered.
SELECT d.objid FROM pg_catalog.pg_event_trigger_ddl_commands() AS d
WHERE d.classid = 'pg_catalog.pg_class'::regclass
