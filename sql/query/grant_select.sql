GRANT SELECT ON {relations} TO {readers}
