-- $1: the source's OID
SELECT c.relname::pg_catalog.text, n.nspname::pg_catalog.text, c.relkind::pg_catalog.text,
       pg_catalog.pg_has_role(c.relowner, 'USAGE'),
       pg_catalog.pg_get_userbyid(c.relowner)::pg_catalog.text,
       c.relpersistence::pg_catalog.text,
       c.oid::pg_catalog.regclass::pg_catalog.text,
       c.relforcerowsecurity,
       EXISTS (SELECT FROM pg_catalog.pg_inherits i WHERE i.inhparent OPERATOR(pg_catalog.=) c.oid)
FROM pg_catalog.pg_class c
JOIN pg_catalog.pg_namespace n ON n.oid OPERATOR(pg_catalog.=) c.relnamespace
WHERE c.oid OPERATOR(pg_catalog.=) $1
