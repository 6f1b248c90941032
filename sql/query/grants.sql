-- What others may do with the relations of a pipeline.

-- name: list
-- $1: a relation's OID. What others than its owner may do with it or with a column of it: the privilege,
-- the column (none: the whole relation), to whom it was given, quoted, and what says whether it may be
-- passed on.
SELECT a.privilege_type, l.column_name::pg_catalog.text,
       CASE WHEN a.grantee OPERATOR(pg_catalog.=) 0 THEN 'PUBLIC' ELSE pg_catalog.quote_ident(r.rolname) END,
       CASE WHEN a.is_grantable THEN ' WITH GRANT OPTION' ELSE '' END
FROM (
    SELECT c.relacl AS acl, NULL::pg_catalog.name AS column_name, c.relowner
    FROM pg_catalog.pg_class c
    WHERE c.oid OPERATOR(pg_catalog.=) $1
    UNION ALL
    SELECT t.attacl, t.attname, c.relowner
    FROM pg_catalog.pg_attribute t
    JOIN pg_catalog.pg_class c ON c.oid OPERATOR(pg_catalog.=) t.attrelid
    WHERE t.attrelid OPERATOR(pg_catalog.=) $1 AND NOT t.attisdropped
) AS l
CROSS JOIN LATERAL pg_catalog.aclexplode(l.acl) AS a
LEFT JOIN pg_catalog.pg_roles r ON r.oid OPERATOR(pg_catalog.=) a.grantee
WHERE a.grantee OPERATOR(pg_catalog.<>) l.relowner AND (a.grantee OPERATOR(pg_catalog.=) 0 OR r.oid IS NOT NULL)
ORDER BY 3, 1, 2

-- name: grant
GRANT {privilege}{column} ON {relation} TO {grantee}{option}

-- name: revoke_all
REVOKE ALL ON {relation} FROM {grantees}
