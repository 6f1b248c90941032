(v.{column} <= ($3[{n}])::{type})
