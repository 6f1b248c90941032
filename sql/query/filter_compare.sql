(v.{column}{cast} {operator} ($3[{n}])::{type}{cast})
