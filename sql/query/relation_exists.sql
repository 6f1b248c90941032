-- $1: OID. The relation's bare name, quoted.
SELECT pg_catalog.quote_ident(relname) FROM pg_catalog.pg_class WHERE oid OPERATOR(pg_catalog.=) $1
