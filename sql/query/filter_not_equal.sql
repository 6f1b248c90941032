(v.{column} IS DISTINCT FROM ($3[{n}])::{type})
