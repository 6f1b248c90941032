-- Columns of views, and what they depend on.

-- name: columns
-- $1: a view's OID. Its columns, in order.
SELECT a.attname::pg_catalog.text, pg_catalog.format_type(a.atttypid, a.atttypmod), a.atttypid
FROM pg_catalog.pg_attribute a
WHERE a.attrelid OPERATOR(pg_catalog.=) $1 AND a.attnum OPERATOR(pg_catalog.>) 0 AND NOT a.attisdropped
ORDER BY a.attnum

-- name: dependencies
-- $1: the content view, $2: the source. The source's columns that the view reads;
-- an empty name stands for the whole row.
SELECT DISTINCT coalesce(a.attname::pg_catalog.text, '')
FROM pg_catalog.pg_rewrite r
JOIN pg_catalog.pg_depend d
  ON d.classid OPERATOR(pg_catalog.=) 'pg_catalog.pg_rewrite'::pg_catalog.regclass AND d.objid OPERATOR(pg_catalog.=) r.oid
 AND d.refclassid OPERATOR(pg_catalog.=) 'pg_catalog.pg_class'::pg_catalog.regclass AND d.refobjid OPERATOR(pg_catalog.=) $2
LEFT JOIN pg_catalog.pg_attribute a ON a.attrelid OPERATOR(pg_catalog.=) d.refobjid AND a.attnum OPERATOR(pg_catalog.=) d.refobjsubid AND a.attnum OPERATOR(pg_catalog.>) 0
WHERE r.ev_class OPERATOR(pg_catalog.=) $1
ORDER BY 1
