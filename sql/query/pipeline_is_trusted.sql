-- $1: pipeline. Whether what a search in it reads belongs to roles that its caller trusts: itself, those
-- whose member it is (a superuser is every role's), superusers, and the owners of the database and of the
-- extension.
SELECT NOT EXISTS (
    SELECT FROM rag.pipeline AS p
    CROSS JOIN LATERAL unnest(ARRAY[p.source, p.chunk_table, p.view, p.representations]::oid[]) AS u (oid)
    JOIN pg_class AS c ON c.oid = u.oid
    JOIN pg_roles AS o ON o.oid = c.relowner
    JOIN pg_roles AS me ON me.rolname = CURRENT_USER
    WHERE p.id = $1 AND NOT o.rolsuper AND o.oid <> me.oid
      AND o.oid <> (SELECT d.datdba FROM pg_database AS d WHERE d.datname = current_database())
      AND o.oid <> (SELECT e.extowner FROM pg_extension AS e WHERE e.extname = 'pg_rag')
      AND (me.rolsuper OR NOT pg_has_role(o.oid, 'MEMBER')))
