(v.{column} IS NULL OR NOT v.{column}{cast} {operator} ($3[{n}])::{type}{cast})
