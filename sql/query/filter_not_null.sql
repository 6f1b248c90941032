(v.{column} IS NOT NULL)
