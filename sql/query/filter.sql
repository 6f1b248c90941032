-- Conditions on metadata, parts of a search. {operand} is a column or what a path leads to in one, {type} a name,
-- {operator} is qualified.

-- name: none
true

-- name: never
false

-- name: not
(({condition}) IS NOT TRUE)

-- name: column
v.{column}

-- name: column_as
v.{column}::{type}

-- name: json
(v.{column}::pg_catalog.jsonb)

-- name: json_path
(v.{column}::pg_catalog.jsonb OPERATOR(pg_catalog.#>) ($3[{first}:{last}]))

-- name: compare
({operand}{cast} {operator} ($3[{n}])::{type}{cast})

-- name: not_equal
({operand} IS NULL OR NOT {operand}{cast} {operator} ($3[{n}])::{type}{cast})

-- name: null
({operand} IS NULL)

-- name: not_null
({operand} IS NOT NULL)

-- name: one_of
({operand}{cast} {operator} ANY (($3[{first}:{last}])::{type}[]{cast_all}))

-- name: one_of_or_null
({operand} IS NULL OR {operand}{cast} {operator} ANY (($3[{first}:{last}])::{type}[]{cast_all}))

-- name: like
({operand}::pg_catalog.text OPERATOR(pg_catalog.~~) ($3[{n}]))

-- name: ilike
({operand}::pg_catalog.text OPERATOR(pg_catalog.~~*) ($3[{n}]))

-- name: contains
({operand} OPERATOR(pg_catalog.@>) ($3[{n}])::{type})

-- name: overlaps
({operand} OPERATOR(pg_catalog.&&) ($3[{n}])::{type})

-- name: json_null
({operand} IS NULL OR pg_catalog.jsonb_typeof({operand}) OPERATOR(pg_catalog.=) 'null')

-- name: json_not_null
(pg_catalog.jsonb_typeof({operand}) OPERATOR(pg_catalog.<>) 'null')

-- name: json_one_of_or_null
({operand} IS NULL OR pg_catalog.jsonb_typeof({operand}) OPERATOR(pg_catalog.=) 'null' OR {operand} {operator} ANY (($3[{first}:{last}])::{type}[]))

-- name: json_compare
(pg_catalog.jsonb_typeof({operand}) OPERATOR(pg_catalog.=) pg_catalog.jsonb_typeof(($3[{n}])::{type}) AND {operand} {operator} ($3[{n}])::{type})

-- name: json_like
(pg_catalog.jsonb_typeof({operand}) OPERATOR(pg_catalog.=) 'string' AND ({operand} OPERATOR(pg_catalog.#>>) ARRAY[]::pg_catalog.text[]) OPERATOR(pg_catalog.~~) ($3[{n}]))

-- name: json_ilike
(pg_catalog.jsonb_typeof({operand}) OPERATOR(pg_catalog.=) 'string' AND ({operand} OPERATOR(pg_catalog.#>>) ARRAY[]::pg_catalog.text[]) OPERATOR(pg_catalog.~~*) ($3[{n}]))
