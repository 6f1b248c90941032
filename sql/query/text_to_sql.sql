-- What language models that write queries get to read of the catalog, and verified pairs.

-- name: relations
-- $1: relations, and $2: schemas, that are listed, $3: whether there are lists, $4: most rows. Relations of which the
-- caller may read a column, with kind, name and comment. What is not listed by its own name is left out where
-- it is a partition, the system's, an extension's, or made by pg_rag of a pipeline.
SELECT c.oid, c.relkind::text, c.relname::text, d.description
FROM pg_class AS c
JOIN pg_namespace AS n ON n.oid = c.relnamespace
LEFT JOIN pg_description AS d ON d.classoid = 'pg_class'::regclass AND d.objoid = c.oid AND d.objsubid = 0
WHERE c.relkind IN ('r', 'p', 'v', 'm', 'f')
  AND (c.oid = ANY ($1)
       OR (NOT $3 OR n.oid = ANY ($2))
          AND NOT c.relispartition
          AND (n.nspname <> 'information_schema' AND left(n.nspname::text, 3) <> 'pg_' OR n.oid = pg_my_temp_schema())
          AND NOT EXISTS (SELECT FROM pg_depend AS e
                          WHERE e.classid = 'pg_class'::regclass AND e.objid = c.oid AND e.deptype = 'e')
          -- Both are read once, and not for each relation.
          AND c.oid NOT IN (SELECT o.relation
                            FROM rag.pipeline AS p
                            CROSS JOIN LATERAL unnest(ARRAY[p.content_view, p.chunk_table, p.view]::oid[]) AS o (relation))
          AND c.oid NOT IN (SELECT m.relation::oid FROM rag.derivation AS m))
  AND has_schema_privilege(n.oid, 'USAGE')
  AND has_any_column_privilege(c.oid, 'SELECT')
ORDER BY c.oid
LIMIT $4

-- name: columns
-- $1: relations. Their columns that the caller may read: number, name, type, comment, and the values of an enum. There may
-- be tens of thousands, so comments are joined: the functions for them run a query each.
SELECT a.attrelid, a.attnum::integer, a.attname::text, format_type(a.atttypid, a.atttypmod), d.description,
       CASE WHEN t.typtype = 'e'
            THEN ARRAY(SELECT e.enumlabel::text FROM pg_enum AS e WHERE e.enumtypid = a.atttypid
                       ORDER BY e.enumsortorder LIMIT 20) END
FROM pg_attribute AS a
JOIN pg_type AS t ON t.oid = a.atttypid
LEFT JOIN pg_description AS d
  ON d.classoid = 'pg_class'::regclass AND d.objoid = a.attrelid AND d.objsubid = a.attnum
WHERE a.attrelid = ANY ($1) AND a.attnum > 0 AND NOT a.attisdropped
  AND has_column_privilege(a.attrelid, a.attnum, 'SELECT')
ORDER BY a.attrelid, a.attnum

-- name: keys
-- $1: relations. Primary keys, and foreign keys from one of them to another: numbers of columns on both sides.
SELECT k.conrelid, k.conkey::integer[], k.confrelid, k.confkey::integer[]
FROM pg_constraint AS k
WHERE k.conrelid = ANY ($1) AND (k.contype = 'p' OR k.contype = 'f' AND k.confrelid = ANY ($1))
ORDER BY k.conrelid, k.conname

-- name: values
-- $1: relations, $2: their names without schemas. Frequent values of columns of text. The view pg_stats shows no row of a
-- column that the caller may not read, nor of a table under row-level security. It is a security barrier, within which
-- nothing but a comparison with constants is looked up: without the names it would read the statistics of all tables.
SELECT c.oid, s.attname::text,
       ARRAY(SELECT v.value FROM unnest(s.most_common_vals::text::text[]) WITH ORDINALITY AS v (value, place)
             WHERE v.value <> '' AND length(v.value) <= 40 ORDER BY v.place LIMIT 5)
FROM pg_class AS c
JOIN pg_namespace AS n ON n.oid = c.relnamespace
JOIN pg_stats AS s ON s.schemaname = n.nspname AND s.tablename = c.relname
JOIN pg_attribute AS a ON a.attrelid = c.oid AND a.attname = s.attname
JOIN pg_type AS t ON t.oid = a.atttypid
WHERE c.oid = ANY ($1) AND s.tablename = ANY ($2::name[]) AND t.typcategory = 'S' AND s.most_common_vals IS NOT NULL
  AND s.inherited = (c.relkind = 'p')

-- name: may_execute
-- Whether the caller may call rag_sql.
SELECT has_function_privilege(p.oid, 'EXECUTE')
FROM pg_extension AS e
JOIN pg_depend AS d ON d.refclassid = 'pg_extension'::regclass AND d.refobjid = e.oid
    AND d.classid = 'pg_proc'::regclass AND d.deptype = 'e'
JOIN pg_proc AS p ON p.oid = d.objid
WHERE e.extname = 'pg_rag' AND p.proname = 'rag_sql'

-- name: examples
-- $1: role, $2: most rows. Pairs of roles that this one trusts, the newest first.
SELECT x.id, x.question, x.sql, x.note
FROM rag.sql_example AS x
WHERE rag.trusts($1, x.owner_id)
ORDER BY x.id DESC
LIMIT $2

-- name: example_put
-- $1: the caller, $2: its name, $3: question, $4: query, $5: note. Takes the place of its pair of the same question.
WITH gone AS (
    DELETE FROM rag.sql_example
    WHERE owner_id OPERATOR(pg_catalog.=) $1 AND question OPERATOR(pg_catalog.=) $3
)
INSERT INTO rag.sql_example (owner, question, sql, note) VALUES ($2::pg_catalog.name, $3, $4, $5)
RETURNING id

-- name: example_delete
-- $1: the caller, $2: number.
DELETE FROM rag.sql_example
WHERE id OPERATOR(pg_catalog.=) $2 AND pg_catalog.pg_has_role($1::pg_catalog.oid, owner_id, 'USAGE')

-- name: found
-- Its WITH becomes that of a query that is written.
WITH {relations} SELECT

-- name: found_relation
-- Documents that were found, as an array of arrays.
{name} ({columns}) AS (SELECT {values} FROM pg_catalog.jsonb_array_elements({rows}::pg_catalog.jsonb) AS r (v))

-- name: found_value
-- A column of such a document.
(r.v OPERATOR(pg_catalog.->>) {place})::{type}
