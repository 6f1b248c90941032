-- Source tables and their columns.

-- name: describe
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

-- name: has_citus
SELECT pg_catalog.to_regclass('pg_catalog.pg_dist_partition') IS NOT NULL

-- name: is_of_citus
-- $1: the source's OID. Whether Citus manages the table, in one of its ways.
SELECT EXISTS (SELECT FROM pg_catalog.pg_dist_partition AS p WHERE p.logicalrelid OPERATOR(pg_catalog.=) $1)

-- name: unique_keys
-- $1: the source's OID. Each unique key without NULLs, the primary key first.
SELECT pg_catalog.array_agg(a.attname::pg_catalog.text ORDER BY k.ordinality)
FROM pg_catalog.pg_index i
CROSS JOIN LATERAL pg_catalog.unnest(i.indkey::pg_catalog.int2[]) WITH ORDINALITY AS k (attnum, ordinality)
JOIN pg_catalog.pg_attribute a ON a.attrelid OPERATOR(pg_catalog.=) i.indrelid AND a.attnum OPERATOR(pg_catalog.=) k.attnum
WHERE i.indrelid OPERATOR(pg_catalog.=) $1 AND i.indisunique AND i.indisvalid AND i.indimmediate
  AND i.indpred IS NULL AND i.indexprs IS NULL
  AND k.ordinality OPERATOR(pg_catalog.<=) i.indnkeyatts
GROUP BY i.indexrelid, i.indisprimary
HAVING pg_catalog.bool_and(a.attnotnull)
ORDER BY i.indisprimary DESC, i.indexrelid

-- name: deferrable_key
-- $1: the source's OID. The columns of its primary key, quoted, if that is deferrable.
SELECT pg_catalog.string_agg(pg_catalog.quote_ident(a.attname), ', ' ORDER BY k.ordinality)
FROM pg_catalog.pg_index AS i
CROSS JOIN LATERAL pg_catalog.unnest(i.indkey::pg_catalog.int2[]) WITH ORDINALITY AS k (attnum, ordinality)
JOIN pg_catalog.pg_attribute AS a ON a.attrelid OPERATOR(pg_catalog.=) i.indrelid AND a.attnum OPERATOR(pg_catalog.=) k.attnum
WHERE i.indrelid OPERATOR(pg_catalog.=) $1 AND i.indisprimary AND NOT i.indimmediate
  AND k.ordinality OPERATOR(pg_catalog.<=) i.indnkeyatts
GROUP BY i.indexrelid

-- name: columns
-- $1: the source's OID. Its columns, in order.
SELECT a.attname::pg_catalog.text, pg_catalog.format_type(a.atttypid, a.atttypmod), t.typcategory::pg_catalog.text,
       a.atttypid
FROM pg_catalog.pg_attribute a
JOIN pg_catalog.pg_type t ON t.oid OPERATOR(pg_catalog.=) a.atttypid
WHERE a.attrelid OPERATOR(pg_catalog.=) $1 AND a.attnum OPERATOR(pg_catalog.>) 0 AND NOT a.attisdropped
ORDER BY a.attnum

-- name: sample
-- The beginnings of the texts of some rows. $1: how many rows, $2: how many characters of each text.
SELECT pg_catalog.concat_ws(' ', {texts}) FROM {source} AS s LIMIT $1
