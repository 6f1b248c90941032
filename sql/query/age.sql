CASE WHEN pg_catalog.isfinite(v.{column})
     THEN EXTRACT(epoch FROM pg_catalog.now() - v.{column}::timestamptz)::float8 / 86400
     WHEN v.{column} > pg_catalog.now() THEN 0
END