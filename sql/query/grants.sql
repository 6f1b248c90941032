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

-- name: readers_of_both
-- Pipelines, and roles, 0 for PUBLIC, that may read the source of a pipeline and something that is made of it. A pipeline over
-- shards has no source but its own view.
SELECT DISTINCT p.id, g.grantee
FROM rag.pipeline AS p
JOIN pg_catalog.pg_class AS s ON s.oid OPERATOR(pg_catalog.=) p.source::pg_catalog.oid
CROSS JOIN LATERAL (
    SELECT r.relation
    FROM pg_catalog.unnest(ARRAY[p.chunk_table, p.view, p.content_view]::pg_catalog.oid[]) AS r (relation)
    UNION ALL
    SELECT d.relation::pg_catalog.oid FROM rag.derivation AS d WHERE d.pipeline OPERATOR(pg_catalog.=) p.id
) AS r
CROSS JOIN LATERAL (
    SELECT a.grantee
    FROM pg_catalog.pg_class AS c CROSS JOIN LATERAL pg_catalog.aclexplode(c.relacl) AS a
    WHERE c.oid OPERATOR(pg_catalog.=) r.relation AND a.privilege_type OPERATOR(pg_catalog.=) 'SELECT'
    UNION
    SELECT a.grantee
    FROM pg_catalog.pg_attribute AS t CROSS JOIN LATERAL pg_catalog.aclexplode(t.attacl) AS a
    WHERE t.attrelid OPERATOR(pg_catalog.=) r.relation AND NOT t.attisdropped AND a.privilege_type OPERATOR(pg_catalog.=) 'SELECT'
) AS g
WHERE p.source::pg_catalog.oid OPERATOR(pg_catalog.<>) p.view::pg_catalog.oid
  AND g.grantee OPERATOR(pg_catalog.<>) s.relowner
  AND pg_catalog.has_table_privilege(g.grantee, s.oid, 'SELECT')

-- name: lost_readers
-- $1: OIDs of tables, $2: OIDs of roles, 0 for PUBLIC, $3: names of schemas; $4 and $5: pipelines and roles that could read
-- their sources; $6: the role whose statement it was. Pipelines, and roles that have lost the source, with their names, quoted:
-- where the statement was the owner's, of pipelines of the tables, or of tables in the schemas, those of the roles that have no
-- right to the whole source of their own; and those that could read it and may not any more. A REVOKE of somebody else takes
-- nothing, with a warning, from whom that role has given nothing. A pipeline over shards has no source but its own view.
SELECT l.id, l.role, CASE WHEN l.role OPERATOR(pg_catalog.=) 0 THEN 'PUBLIC' ELSE pg_catalog.quote_ident(r.rolname) END
FROM (
    SELECT p.id, u.role
    FROM rag.pipeline AS p
    JOIN pg_catalog.pg_class AS s ON s.oid OPERATOR(pg_catalog.=) p.source::pg_catalog.oid
    JOIN pg_catalog.pg_namespace AS n ON n.oid OPERATOR(pg_catalog.=) s.relnamespace
    CROSS JOIN pg_catalog.unnest($2::pg_catalog.oid[]) AS u (role)
    WHERE (s.oid OPERATOR(pg_catalog.=) ANY ($1::pg_catalog.oid[])
           OR n.nspname::pg_catalog.text OPERATOR(pg_catalog.=) ANY ($3::pg_catalog.text[]))
      AND pg_catalog.pg_has_role($6::pg_catalog.oid, s.relowner, 'USAGE')
      AND NOT EXISTS (
          SELECT FROM pg_catalog.aclexplode(s.relacl) AS a
          WHERE a.grantee OPERATOR(pg_catalog.=) u.role AND a.privilege_type OPERATOR(pg_catalog.=) 'SELECT')
    UNION
    SELECT p.id, b.role
    FROM ROWS FROM (pg_catalog.unnest($4::pg_catalog.int4[]), pg_catalog.unnest($5::pg_catalog.oid[])) AS b (id, role)
    JOIN rag.pipeline AS p ON p.id OPERATOR(pg_catalog.=) b.id
    WHERE NOT pg_catalog.has_table_privilege(b.role, p.source::pg_catalog.oid, 'SELECT')
) AS l
JOIN rag.pipeline AS p ON p.id OPERATOR(pg_catalog.=) l.id
JOIN pg_catalog.pg_class AS s ON s.oid OPERATOR(pg_catalog.=) p.source::pg_catalog.oid
LEFT JOIN pg_catalog.pg_roles AS r ON r.oid OPERATOR(pg_catalog.=) l.role
WHERE p.source::pg_catalog.oid OPERATOR(pg_catalog.<>) p.view::pg_catalog.oid
  AND l.role OPERATOR(pg_catalog.<>) s.relowner AND (l.role OPERATOR(pg_catalog.=) 0 OR r.oid IS NOT NULL)
ORDER BY l.id, l.role

-- name: given_by_others
-- $1: OIDs of relations, $2: OIDs of roles, 0 for PUBLIC. What others than their owner have given these roles to read: the
-- relation and the column, ready for a statement, who has given it, as a number and as a name, to whom, and whether that role
-- can take it back: not where it may not name the relation, nor with the rights of the owner, as whom it would act then: as a
-- superuser, or a member of that role.
SELECT pg_catalog.concat(pg_catalog.quote_ident(n.nspname), '.', pg_catalog.quote_ident(c.relname)),
       CASE WHEN g.column_name IS NULL THEN '' ELSE pg_catalog.concat(' (', pg_catalog.quote_ident(g.column_name), ')') END,
       o.oid, pg_catalog.quote_ident(o.rolname),
       pg_catalog.string_agg(CASE WHEN g.grantee OPERATOR(pg_catalog.=) 0 THEN 'PUBLIC' ELSE pg_catalog.quote_ident(r.rolname) END, ', '),
       NOT pg_catalog.pg_has_role(o.oid, c.relowner, 'USAGE') AND pg_catalog.has_schema_privilege(o.oid, n.oid, 'USAGE')
FROM pg_catalog.pg_class AS c
JOIN pg_catalog.pg_namespace AS n ON n.oid OPERATOR(pg_catalog.=) c.relnamespace
CROSS JOIN LATERAL (
    SELECT NULL::pg_catalog.text AS column_name, a.grantor, a.grantee, a.privilege_type
    FROM pg_catalog.aclexplode(c.relacl) AS a
    UNION ALL
    SELECT t.attname::pg_catalog.text, a.grantor, a.grantee, a.privilege_type
    FROM pg_catalog.pg_attribute AS t CROSS JOIN LATERAL pg_catalog.aclexplode(t.attacl) AS a
    WHERE t.attrelid OPERATOR(pg_catalog.=) c.oid AND NOT t.attisdropped
) AS g
JOIN pg_catalog.pg_roles AS o ON o.oid OPERATOR(pg_catalog.=) g.grantor
LEFT JOIN pg_catalog.pg_roles AS r ON r.oid OPERATOR(pg_catalog.=) g.grantee
WHERE c.oid OPERATOR(pg_catalog.=) ANY ($1::pg_catalog.oid[]) AND g.grantee OPERATOR(pg_catalog.=) ANY ($2::pg_catalog.oid[])
  AND g.privilege_type OPERATOR(pg_catalog.=) 'SELECT' AND g.grantor OPERATOR(pg_catalog.<>) c.relowner
  AND (g.grantee OPERATOR(pg_catalog.=) 0 OR r.oid IS NOT NULL)
GROUP BY n.nspname, n.oid, c.relname, c.relowner, g.column_name, o.oid, o.rolname
ORDER BY 1, 2, 3

-- name: revoke_select
REVOKE SELECT{column} ON {relations} FROM {grantees} CASCADE
