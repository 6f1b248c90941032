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

-- name: lost_readers
-- $1: OIDs of tables, $2: OIDs of roles, 0 for PUBLIC, $3: names of schemas, $4: whether any reader of the chunks may have
-- lost the right to these tables. Pipelines of these sources, or of sources in these schemas, and those of the roles that may not read the
-- whole source, quoted. A pipeline over shards has no source but its own view.
SELECT p.id, pg_catalog.string_agg(CASE WHEN g.oid OPERATOR(pg_catalog.=) 0 THEN 'PUBLIC' ELSE pg_catalog.quote_ident(r.rolname) END, ', ')
FROM rag.pipeline AS p
JOIN pg_catalog.pg_class AS s ON s.oid OPERATOR(pg_catalog.=) p.source::pg_catalog.oid
JOIN pg_catalog.pg_namespace AS n ON n.oid OPERATOR(pg_catalog.=) s.relnamespace
JOIN pg_catalog.pg_class AS c ON c.oid OPERATOR(pg_catalog.=) p.chunk_table::pg_catalog.oid
CROSS JOIN LATERAL (
    SELECT u.oid FROM pg_catalog.unnest($2::pg_catalog.oid[]) AS u (oid)
    UNION
    SELECT a.grantee FROM pg_catalog.aclexplode(c.relacl) AS a WHERE $4 AND s.oid OPERATOR(pg_catalog.=) ANY ($1::pg_catalog.oid[]) AND a.grantee OPERATOR(pg_catalog.<>) c.relowner
) AS g
LEFT JOIN pg_catalog.pg_roles AS r ON r.oid OPERATOR(pg_catalog.=) g.oid
WHERE (s.oid OPERATOR(pg_catalog.=) ANY ($1::pg_catalog.oid[]) OR n.nspname::pg_catalog.text OPERATOR(pg_catalog.=) ANY ($3::pg_catalog.text[]))
  AND p.source::pg_catalog.oid OPERATOR(pg_catalog.<>) p.view::pg_catalog.oid
  AND g.oid OPERATOR(pg_catalog.<>) s.relowner AND (g.oid OPERATOR(pg_catalog.=) 0 OR r.oid IS NOT NULL)
  AND NOT EXISTS (
      SELECT FROM pg_catalog.aclexplode(s.relacl) AS a
      WHERE a.grantee OPERATOR(pg_catalog.=) g.oid AND a.privilege_type OPERATOR(pg_catalog.=) 'SELECT')
GROUP BY p.id
ORDER BY p.id

-- name: revoke_select
REVOKE SELECT ON {relations} FROM {grantees} CASCADE
