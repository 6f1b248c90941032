-- $1: pipeline. Who says where its chunks stand, and where that is kept.
SELECT p.context_llm, c.oid, pg_catalog.quote_ident(n.nspname) || '.' || pg_catalog.quote_ident(c.relname)
FROM rag.pipeline AS p
JOIN pg_catalog.pg_class AS c ON c.oid = p.contexts
JOIN pg_catalog.pg_namespace AS n ON n.oid = c.relnamespace
WHERE p.id = $1 AND p.context_llm IS NOT NULL
