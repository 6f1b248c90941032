-- $1: text search configuration as the caller writes it. Its name in every session.
SELECT pg_catalog.quote_ident(n.nspname) OPERATOR(pg_catalog.||) '.' OPERATOR(pg_catalog.||) pg_catalog.quote_ident(c.cfgname)
FROM pg_catalog.pg_ts_config AS c
JOIN pg_catalog.pg_namespace AS n ON n.oid OPERATOR(pg_catalog.=) c.cfgnamespace
WHERE c.oid OPERATOR(pg_catalog.=) $1::pg_catalog.text::pg_catalog.regconfig
