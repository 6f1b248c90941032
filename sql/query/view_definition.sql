SELECT pg_catalog.pg_get_viewdef($1::pg_catalog.oid)
