(v.{column}{cast} {operator} ANY (($3[{first}:{last}])::{type}[]{cast_all}))
