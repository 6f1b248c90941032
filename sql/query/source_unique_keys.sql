-- $1: the source's OID. Each unique key without NULLs, the primary key first.
SELECT pg_catalog.array_agg(a.attname::text ORDER BY k.ordinality)
FROM pg_catalog.pg_index i
CROSS JOIN LATERAL pg_catalog.unnest(i.indkey::int2[]) WITH ORDINALITY AS k (attnum, ordinality)
JOIN pg_catalog.pg_attribute a ON a.attrelid = i.indrelid AND a.attnum = k.attnum
WHERE i.indrelid = $1 AND i.indisunique AND i.indisvalid AND i.indimmediate
  AND i.indpred IS NULL AND i.indexprs IS NULL
  AND k.ordinality <= i.indnkeyatts
GROUP BY i.indexrelid, i.indisprimary
HAVING pg_catalog.bool_and(a.attnotnull)
ORDER BY i.indisprimary DESC, i.indexrelid
