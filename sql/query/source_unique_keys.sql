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
