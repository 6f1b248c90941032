-- Functions that agents may call.

-- name: usable
-- $1: names, $2: whether there are any that are wanted, or all are. Tools of the caller, with the name of the function.
SELECT t.name, t.description, p.oid, format('%I.%I', n.nspname, p.proname)
FROM rag.tool AS t
JOIN pg_proc AS p ON p.oid = t.function::oid
JOIN pg_namespace AS n ON n.oid = p.pronamespace
WHERE NOT $2 OR t.name = ANY ($1)
ORDER BY t.name

-- name: is_there
-- $1: function, $2: its name with its schema. Whether it is there by that name, which with the types of its arguments,
-- that never change, is its own.
SELECT EXISTS (
    SELECT FROM pg_proc AS p
    JOIN pg_namespace AS n ON n.oid = p.pronamespace
    WHERE p.oid = $1 AND format('%I.%I', n.nspname, p.proname) = $2)

-- name: function
-- $1: function. Its name, whether it is a plain function, whether it has a variable number of arguments, and whether it
-- returns something that has a value.
SELECT format('%I.%I', n.nspname, p.proname), p.prokind = 'f', p.provariadic <> 0,
       r.typtype <> 'p' OR p.prorettype = 'record'::regtype AND p.proargmodes IS NOT NULL
FROM pg_proc AS p
JOIN pg_namespace AS n ON n.oid = p.pronamespace
JOIN pg_type AS r ON r.oid = p.prorettype
WHERE p.oid = $1

-- name: arguments
-- $1: functions. What each is given, in order: name, type as it is read and as a statement writes it, the category of
-- the type and, of a list, of its elements, whether these are whole numbers, whether it may be left out, and whether
-- the type is a pseudo-type.
SELECT p.oid, coalesce(m.name, ''), format_type(t.oid, NULL), format('%I.%I', s.nspname, t.typname),
       t.typcategory = 'A', coalesce(e.typcategory, t.typcategory)::text,
       coalesce(e.oid, t.oid) IN ('int2'::regtype, 'int4'::regtype, 'int8'::regtype),
       a.place > p.pronargs - p.pronargdefaults, t.typtype = 'p'
FROM pg_proc AS p
CROSS JOIN LATERAL unnest(p.proargtypes::oid[]) WITH ORDINALITY AS a (type, place)
JOIN pg_type AS t ON t.oid = a.type
JOIN pg_namespace AS s ON s.oid = t.typnamespace
LEFT JOIN pg_type AS e ON e.oid = t.typelem AND t.typcategory = 'A'
LEFT JOIN LATERAL (
    SELECT i.name, row_number() OVER (ORDER BY i.place) AS place
    FROM ROWS FROM (unnest(p.proargnames), unnest(p.proargmodes)) WITH ORDINALITY AS i (name, mode, place)
    WHERE i.mode IS NULL OR i.mode IN ('i', 'b', 'v')) AS m ON m.place = a.place
WHERE p.oid = ANY ($1)
ORDER BY p.oid, a.place

-- name: put
-- $1: the caller, $2: its name, $3: name, $4: function, $5: description. Takes the place of its tool of this name.
WITH gone AS (
    DELETE FROM rag.tool_definition WHERE owner_id = $1 AND name = $3
)
INSERT INTO rag.tool_definition (owner, name, function, description) VALUES ($2::pg_catalog.name, $3, $4, $5)

-- name: drop
-- $1: the caller, $2: name.
DELETE FROM rag.tool_definition WHERE owner_id = $1 AND name = $2

-- name: call
SELECT * FROM {function}({arguments}) AS result
