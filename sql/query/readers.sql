-- $1: the source's OID. Roles that may read the whole table, besides its owner and PUBLIC.
SELECT DISTINCT pg_catalog.quote_ident(r.rolname)
FROM pg_catalog.pg_class c
CROSS JOIN LATERAL pg_catalog.aclexplode(c.relacl) AS a
JOIN pg_catalog.pg_roles r ON r.oid OPERATOR(pg_catalog.=) a.grantee
WHERE c.oid OPERATOR(pg_catalog.=) $1 AND a.privilege_type OPERATOR(pg_catalog.=) 'SELECT' AND a.grantee OPERATOR(pg_catalog.<>) c.relowner
ORDER BY 1
