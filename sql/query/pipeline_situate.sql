-- $1: pipeline. Who says where its chunks stand, and where that is kept.
SELECT p.context_llm, c.oid, pg_catalog.quote_ident(n.nspname) OPERATOR(pg_catalog.||) '.' OPERATOR(pg_catalog.||) pg_catalog.quote_ident(c.relname)
FROM rag.pipeline AS p
JOIN pg_catalog.pg_class AS c ON c.oid OPERATOR(pg_catalog.=) p.contexts
JOIN pg_catalog.pg_namespace AS n ON n.oid OPERATOR(pg_catalog.=) c.relnamespace
WHERE p.id OPERATOR(pg_catalog.=) $1 AND p.context_llm IS NOT NULL
