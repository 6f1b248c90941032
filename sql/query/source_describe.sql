-- $1: the source's OID
SELECT c.relname::text, n.nspname::text, c.relkind::text,
       pg_catalog.pg_has_role(c.relowner, 'USAGE'),
       pg_catalog.pg_get_userbyid(c.relowner)::text,
       c.relpersistence::text,
       c.oid::regclass::text,
       c.relforcerowsecurity,
       EXISTS (SELECT FROM pg_catalog.pg_inherits i WHERE i.inhparent = c.oid)
FROM pg_catalog.pg_class c
JOIN pg_catalog.pg_namespace n ON n.oid = c.relnamespace
WHERE c.oid = $1
