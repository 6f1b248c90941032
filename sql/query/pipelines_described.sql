-- The pipelines that the caller may see, and what is in them.
SELECT p.id, p.name,
       coalesce(p.description, pg_catalog.obj_description(p.source, 'pg_class'), pg_catalog.replace(p.name, '_', ' '))
FROM rag.pipeline AS p
WHERE p.name IS NOT NULL
ORDER BY p.name
