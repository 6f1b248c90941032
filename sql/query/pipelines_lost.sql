-- In an event trigger: pipelines that have just lost their source, their content or their chunks.
SELECT DISTINCT p.id
FROM pg_catalog.pg_event_trigger_dropped_objects() AS d
JOIN rag.pipeline AS p ON d.objid IN (p.source, p.content_view, p.chunk_table)
WHERE d.classid = 'pg_catalog.pg_class'::regclass AND d.objsubid = 0
