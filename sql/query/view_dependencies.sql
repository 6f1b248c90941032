-- $1: the content view, $2: the source. The source's columns that the view reads;
-- an empty name stands for the whole row.
SELECT DISTINCT coalesce(a.attname::text, '')
FROM pg_catalog.pg_rewrite r
JOIN pg_catalog.pg_depend d
  ON d.classid = 'pg_catalog.pg_rewrite'::regclass AND d.objid = r.oid
 AND d.refclassid = 'pg_catalog.pg_class'::regclass AND d.refobjid = $2
LEFT JOIN pg_catalog.pg_attribute a ON a.attrelid = d.refobjid AND a.attnum = d.refobjsubid AND a.attnum > 0
WHERE r.ev_class = $1
ORDER BY 1
