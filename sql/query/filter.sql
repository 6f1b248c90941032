-- Conditions on metadata, parts of a search. {column} and {type} are names, {operator} is qualified.

-- name: none
true

-- name: compare
(v.{column}{cast} {operator} ($3[{n}])::{type}{cast})

-- name: not_equal
(v.{column} IS NULL OR NOT v.{column}{cast} {operator} ($3[{n}])::{type}{cast})

-- name: null
(v.{column} IS NULL)

-- name: not_null
(v.{column} IS NOT NULL)

-- name: one_of
(v.{column}{cast} {operator} ANY (($3[{first}:{last}])::{type}[]{cast_all}))

-- name: one_of_or_null
(v.{column} IS NULL OR v.{column}{cast} {operator} ANY (($3[{first}:{last}])::{type}[]{cast_all}))
