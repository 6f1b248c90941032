-- What the options of guarded SQL name, and what belongs to the relations that a statement reads.

-- name: relations
-- $1: names. For each, its place and the relation that the caller means by it.
SELECT n.place, pg_catalog.to_regclass(n.name)::pg_catalog.oid
FROM pg_catalog.unnest($1::pg_catalog.text[]) WITH ORDINALITY AS n (name, place)

-- name: functions
-- $1: names. For each, its place and a function: the one with these types of arguments, or all that the caller
-- means by the name alone.
SELECT n.place, f.function
FROM pg_catalog.unnest($1::pg_catalog.text[]) WITH ORDINALITY AS n (name, place)
CROSS JOIN LATERAL (
    SELECT pg_catalog.to_regprocedure(n.name)::pg_catalog.oid
    WHERE pg_catalog.strpos(n.name, '(') OPERATOR(pg_catalog.>) 0
    UNION ALL
    SELECT p.oid
    FROM pg_catalog.parse_ident(CASE WHEN pg_catalog.strpos(n.name, '(') OPERATOR(pg_catalog.>) 0 THEN 'none'
                                ELSE n.name END) AS i (part)
    JOIN pg_catalog.pg_proc AS p
        ON p.proname OPERATOR(pg_catalog.=) i.part[pg_catalog.cardinality(i.part)]::pg_catalog.name
    JOIN pg_catalog.pg_namespace AS s ON s.oid OPERATOR(pg_catalog.=) p.pronamespace
    WHERE pg_catalog.strpos(n.name, '(') OPERATOR(pg_catalog.=) 0
      AND CASE WHEN pg_catalog.cardinality(i.part) OPERATOR(pg_catalog.=) 1
               THEN pg_catalog.pg_function_is_visible(p.oid)
               ELSE s.nspname OPERATOR(pg_catalog.=) i.part[1]::pg_catalog.name END
) AS f (function)

-- name: inheriting
-- $1: relations. Those that inherit from them, at any depth, with their kind, and whether each is a partition,
-- which is a part of its table and has no name of its own in a statement.
WITH RECURSIVE parts (oid) AS (
    SELECT i.inhrelid FROM pg_inherits AS i WHERE i.inhparent = ANY ($1)
    UNION
    SELECT i.inhrelid FROM parts AS p JOIN pg_inherits AS i ON i.inhparent = p.oid
)
SELECT c.oid, c.relkind::text, c.relispartition FROM parts AS p JOIN pg_class AS c ON c.oid = p.oid

-- name: called
-- $1: relations. Functions of users that the planner may call for them and for what inherits from them, since
-- they are in an expression of an index, a check, a statistic, a generated column or a key of partitions.
WITH RECURSIVE parts (oid) AS (
    SELECT u.oid FROM unnest($1) AS u (oid)
    UNION
    SELECT i.inhrelid FROM parts AS p JOIN pg_inherits AS i ON i.inhparent = p.oid
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
    WHERE (SELECT a.attgenerated FROM pg_attribute AS a WHERE a.attrelid = d.adrelid AND a.attnum = d.adnum) <> ''
)
SELECT DISTINCT coalesce(o.oprcode::oid, d.refobjid)
FROM planned AS p
JOIN pg_depend AS d ON d.classid = p.classid AND d.objid = p.objid
LEFT JOIN pg_operator AS o ON d.refclassid = 'pg_operator'::regclass AND o.oid = d.refobjid
WHERE d.refclassid IN ('pg_proc'::regclass, 'pg_operator'::regclass)

-- name: primary_keys
-- $1: relations. Their primary keys: numbers of the columns.
SELECT k.conrelid, k.conkey::integer[] FROM pg_constraint AS k WHERE k.conrelid = ANY ($1) AND k.contype = 'p'
