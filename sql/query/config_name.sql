-- $1: text search configuration as the caller writes it. Its name in every session.
SELECT pg_catalog.quote_ident(n.nspname) || '.' || pg_catalog.quote_ident(c.cfgname)
FROM pg_catalog.pg_ts_config AS c
JOIN pg_catalog.pg_namespace AS n ON n.oid = c.cfgnamespace
WHERE c.oid = $1::text::regconfig
