(v.{column} = ANY (($3[{first}:{last}])::{type}[]))
