CASE WHEN pg_catalog.isfinite(v.{column})
     THEN EXTRACT(epoch FROM pg_catalog.now() OPERATOR(pg_catalog.-) v.{column}::pg_catalog.timestamptz)::pg_catalog.float8
          OPERATOR(pg_catalog./) 86400
     WHEN v.{column} OPERATOR(pg_catalog.>) pg_catalog.now() THEN 0
END