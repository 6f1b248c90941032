SELECT FROM pg_catalog.pg_class WHERE oid = $1
