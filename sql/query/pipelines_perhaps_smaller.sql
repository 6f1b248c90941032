-- In an event trigger: pipelines that have just lost a part of their source, which had the trigger that
-- each part has. A trigger that is dropped by itself takes no rows with it.
SELECT DISTINCT p.id
FROM pg_catalog.pg_event_trigger_dropped_objects() AS d
JOIN rag.pipeline AS p ON d.address_names[3] = pg_catalog.format('rag_%s_truncate', p.id)
WHERE d.object_type = 'trigger' AND NOT d.original
