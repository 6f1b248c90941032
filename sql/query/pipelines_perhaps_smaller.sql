-- In an event trigger: if a table was dropped, it may have been a part of the source of these.
SELECT p.id
FROM rag.pipeline AS p
JOIN pg_catalog.pg_class AS c ON c.oid = p.source AND c.relkind = 'p'
WHERE EXISTS (SELECT FROM pg_catalog.pg_event_trigger_dropped_objects() AS d
              WHERE d.object_type = 'table' AND d.original AND NOT d.is_temporary)
