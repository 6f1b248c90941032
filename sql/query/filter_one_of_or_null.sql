(v.{column} IS NULL OR v.{column} = ANY (($3[{first}:{last}])::{type}[]))
