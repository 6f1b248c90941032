-- Whether a pipeline may be chosen by pg_rag for the caller.

-- name: is_trusted
-- $1: pipeline. Whether what a search in it reads, and the schemas in which that is, belong to roles that its
-- caller trusts: itself, those whose member it is (a superuser is every role's), superusers, and the owners of
-- the database and of the extension.
SELECT NOT EXISTS (
    SELECT FROM rag.pipeline AS p
    LEFT JOIN rag.derivation AS r ON r.pipeline = p.id AND r.kind IN ('representations', 'mentions', 'relations', 'extracted_relations', 'tree', 'communities')
    CROSS JOIN LATERAL unnest(ARRAY[p.source, p.chunk_table, p.view, r.relation]::oid[]) AS u (oid)
    JOIN pg_class AS c ON c.oid = u.oid
    JOIN pg_namespace AS n ON n.oid = c.relnamespace
    JOIN pg_roles AS o ON o.oid IN (c.relowner, n.nspowner)
    JOIN pg_roles AS me ON me.rolname = CURRENT_USER
    WHERE p.id = $1 AND NOT o.rolsuper AND o.oid <> me.oid AND o.rolname <> 'pg_database_owner'
      AND o.oid <> (SELECT d.datdba FROM pg_database AS d WHERE d.datname = current_database())
      AND o.oid <> (SELECT e.extowner FROM pg_extension AS e WHERE e.extname = 'pg_rag')
      AND (me.rolsuper OR NOT pg_has_role(o.oid, 'MEMBER')))

-- name: stored_beside
-- $1: pipeline. The tables beside its chunks that searches read.
SELECT r.relation::oid FROM rag.derivation AS r
WHERE r.pipeline = $1 AND r.kind IN ('representations', 'mentions', 'relations', 'extracted_relations', 'tree', 'communities')
ORDER BY 1

-- name: runs_no_code
-- $1: pipeline. Whether a search in it runs no code of its owner: its relations are as pg_rag makes them,
-- so that
-- * the view joins chunks and rows by operators of an operator class, and computes nothing;
-- * policies, where they hold for the caller, compare columns with settings and names of roles;
-- * what the planner computes (indexes, constraints, statistics, partition keys) calls no function of
--   others, at any depth of partitions;
-- * values are of types that have no casts or checks of others;
-- * their schemas belong to roles that the caller trusts.
WITH RECURSIVE pipeline AS (
    SELECT p.source::oid, p.chunk_table::oid, p.view::oid, r.relation::oid AS derived, p.content_view::oid
    FROM rag.pipeline AS p
    LEFT JOIN rag.derivation AS r ON r.pipeline = p.id AND r.kind IN ('representations', 'mentions', 'relations', 'extracted_relations', 'tree', 'communities')
    WHERE p.id = $1
), relations (oid) AS (
    SELECT u.oid FROM pipeline AS p
    CROSS JOIN LATERAL unnest(ARRAY[p.source, p.chunk_table, p.view, p.derived]) AS u (oid)
    WHERE u.oid IS NOT NULL
), parts (oid) AS (
    SELECT r.oid FROM relations AS r
    UNION
    SELECT i.inhrelid FROM parts JOIN pg_inherits AS i ON i.inhparent = parts.oid
), planned (classid, objid) AS (
    SELECT 'pg_class'::regclass::oid, p.oid FROM parts AS p
    UNION ALL
    SELECT 'pg_class'::regclass, i.indexrelid FROM parts AS p JOIN pg_index AS i ON i.indrelid = p.oid
    UNION ALL
    SELECT 'pg_constraint'::regclass, k.oid FROM parts AS p JOIN pg_constraint AS k ON k.conrelid = p.oid
    UNION ALL
    SELECT 'pg_statistic_ext'::regclass, s.oid FROM parts AS p JOIN pg_statistic_ext AS s ON s.stxrelid = p.oid
    UNION ALL
    SELECT 'pg_attrdef'::regclass, d.oid FROM parts AS p JOIN pg_attrdef AS d ON d.adrelid = p.oid
    JOIN pg_attribute AS a ON a.attrelid = p.oid AND a.attnum = d.adnum AND a.attgenerated <> ''
), called (function) AS (
    SELECT coalesce(o.oprcode, d.refobjid) FROM planned AS p
    JOIN pg_depend AS d ON d.classid = p.classid AND d.objid = p.objid
    LEFT JOIN pg_operator AS o ON d.refclassid = 'pg_operator'::regclass AND o.oid = d.refobjid
    WHERE d.refclassid IN ('pg_proc'::regclass, 'pg_operator'::regclass)
), trees (is_policy, tree) AS (
    SELECT false, w.ev_action::text FROM pipeline AS p JOIN pg_rewrite AS w ON w.ev_class = p.view
    UNION ALL
    SELECT true, y.polqual::text FROM relations AS r JOIN pg_policy AS y ON y.polrelid = r.oid
    WHERE y.polcmd IN ('r', '*') AND row_security_active(r.oid)
)
SELECT NOT EXISTS (
           SELECT FROM pipeline AS p JOIN pg_class AS c ON c.oid = p.view
           WHERE c.relkind <> 'v' OR 'security_invoker=true' <> ALL (coalesce(c.reloptions, '{}')))
       AND NOT EXISTS (
           SELECT FROM parts JOIN pg_class AS c ON c.oid = parts.oid CROSS JOIN pipeline AS p
           WHERE c.oid <> p.view AND c.relkind NOT IN ('r', 'p'))
       AND NOT EXISTS (
           SELECT FROM called JOIN pg_proc AS f ON f.oid = called.function JOIN pg_roles AS o ON o.oid = f.proowner
           WHERE NOT o.rolsuper)
       AND NOT EXISTS (
           SELECT FROM pipeline AS p
           JOIN pg_attribute AS a ON a.attrelid IN (p.view, p.content_view, p.chunk_table, p.derived) AND a.attnum > 0
           JOIN pg_type AS t ON t.oid = a.atttypid JOIN pg_roles AS o ON o.oid = t.typowner
           WHERE NOT o.rolsuper)
       -- Who owns a schema could rename it and make another of its name, whatever is locked in it.
       AND NOT EXISTS (
           SELECT FROM relations AS r
           JOIN pg_class AS c ON c.oid = r.oid JOIN pg_namespace AS n ON n.oid = c.relnamespace
           JOIN pg_roles AS o ON o.oid = n.nspowner JOIN pg_roles AS me ON me.rolname = CURRENT_USER
           WHERE NOT o.rolsuper AND o.oid <> me.oid AND o.rolname <> 'pg_database_owner'
             AND o.oid <> (SELECT d.datdba FROM pg_database AS d WHERE d.datname = current_database())
             AND o.oid <> (SELECT e.extowner FROM pg_extension AS e WHERE e.extname = 'pg_rag')
             AND (me.rolsuper OR NOT pg_has_role(o.oid, 'MEMBER')))
       -- What a node of a tree is stands behind its brace; those in names of users have a backslash before.
       AND NOT EXISTS (
           SELECT FROM trees AS t CROSS JOIN LATERAL regexp_matches(t.tree, '(?<!\\)\{([A-Z_]+)', 'g') AS m (node)
           WHERE m.node[1] NOT IN ('QUERY', 'RTE', 'RANGETBLENTRY', 'RTEPERMISSIONINFO', 'ALIAS', 'FROMEXPR',
                                   'JOINEXPR', 'RANGETBLREF', 'TARGETENTRY', 'VAR', 'RELABELTYPE', 'OPEXPR',
                                   'BOOLEXPR')
             AND (NOT t.is_policy
                  OR m.node[1] NOT IN ('SUBLINK', 'CONST', 'FUNCEXPR', 'SQLVALUEFUNCTION', 'COALESCE',
                                       'COALESCEEXPR', 'NULLTEST', 'BOOLEANTEST', 'COERCEVIAIO', 'CASE',
                                       'CASEEXPR', 'WHEN', 'CASEWHEN', 'SCALARARRAYOPEXPR', 'ARRAY', 'ARRAYEXPR',
                                       'ARRAYCOERCEEXPR', 'CASETESTEXPR', 'RANGETBLFUNCTION')))
       AND NOT EXISTS (
           SELECT FROM trees AS t CROSS JOIN LATERAL regexp_matches(t.tree, ':relid (\d+)', 'g') AS m (relation)
           WHERE m.relation[1]::oid NOT IN (SELECT 0::oid UNION ALL SELECT r.oid FROM relations AS r))
       -- PostgreSQL's own have numbers below 16384.
       AND NOT EXISTS (
           SELECT FROM trees AS t CROSS JOIN LATERAL regexp_matches(t.tree, ':opno (\d+)', 'g') AS m (operator)
           WHERE m.operator[1]::oid >= 16384
             AND NOT EXISTS (SELECT FROM pg_amop AS a WHERE a.amopopr = m.operator[1]::oid))
       AND NOT EXISTS (
           SELECT FROM trees AS t CROSS JOIN LATERAL regexp_matches(t.tree, ':resulttype (\d+)', 'g') AS m (type)
           WHERE t.is_policy AND m.type[1]::oid >= 16384)
       AND NOT EXISTS (
           SELECT FROM trees AS t CROSS JOIN LATERAL regexp_matches(t.tree, ':funcid (\d+)', 'g') AS m (function)
           JOIN pg_proc AS f ON f.oid = m.function[1]::oid
           WHERE f.oid >= 16384
              OR f.proname NOT IN ('current_setting', 'pg_has_role', 'lower', 'upper', 'now', 'text', 'name',
                                   'varchar', 'bpchar', 'int2', 'int4', 'int8', 'numeric', 'date',
                                   'timestamp', 'timestamptz', 'unnest'))
