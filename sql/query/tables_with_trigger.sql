-- $1: name of a trigger of ours. Tables that have it and did not get it from another table.
SELECT pg_catalog.quote_ident(n.nspname) OPERATOR(pg_catalog.||) '.' OPERATOR(pg_catalog.||) pg_catalog.quote_ident(c.relname)
FROM pg_catalog.pg_trigger AS g
JOIN pg_catalog.pg_class AS c ON c.oid OPERATOR(pg_catalog.=) g.tgrelid
JOIN pg_catalog.pg_namespace AS n ON n.oid OPERATOR(pg_catalog.=) c.relnamespace
WHERE g.tgname OPERATOR(pg_catalog.=) $1 AND g.tgparentid OPERATOR(pg_catalog.=) 0 AND g.tgfoid OPERATOR(pg_catalog.=) 'rag.capture'::pg_catalog.regproc
