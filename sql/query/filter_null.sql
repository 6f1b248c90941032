(v.{column} IS NULL)
