CASE WHEN v.{column}::pg_catalog.text OPERATOR(pg_catalog.~) '[0-9]{digits}'
          OR pg_catalog.jsonb_path_exists(pg_catalog.to_jsonb(v.{column}), '$.**{levels}')
     THEN pg_catalog.to_jsonb(v.{column}::pg_catalog.text)
     ELSE pg_catalog.to_jsonb(v.{column}) END
