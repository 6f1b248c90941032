-- What the columns of rows say of two entities: a row for each relation that a source row says, kept with its first chunk.

-- name: create_table
CREATE TABLE {table} (
    chunk_id     bigint NOT NULL REFERENCES {chunk_table} ON DELETE CASCADE,
    subject      pg_catalog.text COLLATE pg_catalog."C" NOT NULL,
    predicate    pg_catalog.text COLLATE pg_catalog."C" NOT NULL,
    object       pg_catalog.text COLLATE pg_catalog."C" NOT NULL,
    subject_name pg_catalog.text NOT NULL,
    object_name  pg_catalog.text NOT NULL,
    PRIMARY KEY (chunk_id, subject, predicate, object)
)

-- name: comment_table
COMMENT ON TABLE {table} IS 'relations that columns of the source say, of the row or of what another column names: subject, predicate, object';
COMMENT ON COLUMN {table}.chunk_id IS 'first chunk of the row that says it';
COMMENT ON COLUMN {table}.subject IS 'normal form of the subject, as in the table of mentions';
COMMENT ON COLUMN {table}.predicate IS 'what the subject is to the object';
COMMENT ON COLUMN {table}.object IS 'normal form of the object: the value of the column, or the name of the row to which it refers';
COMMENT ON COLUMN {table}.subject_name IS 'the subject as it is written';
COMMENT ON COLUMN {table}.object_name IS 'the object as it is written'

-- name: create_indexes
CREATE INDEX ON {table} (subject, chunk_id);
CREATE INDEX ON {table} (object, chunk_id);
CREATE INDEX ON {table} (subject, predicate, chunk_id);
CREATE INDEX ON {table} (object, predicate, chunk_id);
CREATE INDEX ON {table} (predicate, subject)

-- name: pipelines
-- Pipelines of which columns say something.
SELECT d.pipeline FROM rag.derivation AS d WHERE d.kind OPERATOR(pg_catalog.=) 'relations' ORDER BY d.pipeline

-- name: foreign_keys
-- $1: a table. Its foreign keys: its columns, the other table, that one's columns, the operators that compare both, the
-- columns of that table that the caller may read, and its OID, and how its own rows are told from those of tables that
-- inherit from it: these may have the same keys, and no foreign key leads to them. Columns are in the order of the other
-- table's index, which is that of its own key. Keys over periods of time are left out: they lead to several rows.
SELECT c.own,
       pg_catalog.quote_ident(n.nspname) OPERATOR(pg_catalog.||) '.' OPERATOR(pg_catalog.||) pg_catalog.quote_ident(t.relname),
       c.keys, c.equal,
       ARRAY(SELECT r.attname::pg_catalog.text
             FROM pg_catalog.pg_attribute AS r
             WHERE r.attrelid OPERATOR(pg_catalog.=) t.oid AND r.attnum OPERATOR(pg_catalog.>) 0 AND NOT r.attisdropped
               AND pg_catalog.has_schema_privilege(n.oid, 'USAGE')
               AND pg_catalog.has_column_privilege(t.oid, r.attnum, 'SELECT')
             ORDER BY r.attnum),
       t.oid, CASE WHEN t.relkind OPERATOR(pg_catalog.=) 'p' THEN '' ELSE 'ONLY' END
FROM pg_catalog.pg_constraint AS f
JOIN pg_catalog.pg_class AS t ON t.oid OPERATOR(pg_catalog.=) f.confrelid
JOIN pg_catalog.pg_namespace AS n ON n.oid OPERATOR(pg_catalog.=) t.relnamespace
JOIN pg_catalog.pg_index AS i ON i.indexrelid OPERATOR(pg_catalog.=) f.conindid
CROSS JOIN LATERAL (
    SELECT pg_catalog.array_agg(a.attname::pg_catalog.text ORDER BY p.place) AS own,
           pg_catalog.array_agg(k.attname::pg_catalog.text ORDER BY p.place) AS keys,
           pg_catalog.array_agg(p.equal ORDER BY p.place) AS equal
    FROM (SELECT u.own, u.other, u.equal, pg_catalog.array_position(i.indkey::pg_catalog.int2[], u.other) AS place
          FROM ROWS FROM (pg_catalog.unnest(f.conkey), pg_catalog.unnest(f.confkey), pg_catalog.unnest(f.conpfeqop))
               AS u (own, other, equal)) AS p
    JOIN pg_catalog.pg_attribute AS a
        ON a.attrelid OPERATOR(pg_catalog.=) f.conrelid AND a.attnum OPERATOR(pg_catalog.=) p.own
    JOIN pg_catalog.pg_attribute AS k
        ON k.attrelid OPERATOR(pg_catalog.=) f.confrelid AND k.attnum OPERATOR(pg_catalog.=) p.other) AS c
WHERE f.conrelid OPERATOR(pg_catalog.=) $1 AND f.contype OPERATOR(pg_catalog.=) 'f' AND NOT i.indisexclusion
-- Of a partitioned table that is referred to, each partition has a constraint of its own.
ORDER BY t.relispartition, f.oid

-- name: of_row
-- What a row is called by its title, if that is short enough for a name.
CASE WHEN pg_catalog.octet_length(pg_catalog.btrim({title})) BETWEEN 1 AND {longest} THEN pg_catalog.btrim({title}) END

-- name: row
-- What a row is called by a table and a key, so that rows of two tables are two.
(SELECT t.relname || ' ' FROM pg_catalog.pg_class AS t WHERE t.oid = {table}::oid) || {key}

-- name: key_of_one
-- A key of one column; quoted where it is empty, so that it is seen.
(SELECT CASE WHEN p.part COLLATE pg_catalog."C" OPERATOR(pg_catalog.=) '' THEN pg_catalog.quote_literal(p.part) ELSE p.part END
 FROM (SELECT {value} AS part) AS p)

-- name: key_part
-- A part of a key of several columns; quoted where it is empty or has a comma, a quotation mark or a space, so that it is seen
-- where it ends.
(SELECT CASE WHEN p.part COLLATE pg_catalog."C" OPERATOR(pg_catalog.~) '^$|[,''[:space:]]' THEN pg_catalog.quote_literal(p.part) ELSE p.part END
 FROM (SELECT {value} AS part) AS p)

-- name: key_of_several
-- A key of several columns. Rows that are called by their keys are told apart by them, but for capitals and accents, so a digest
-- follows unless each part is one word in small letters: else A, b and a, b would be one entity.
(SELECT CASE WHEN k.written COLLATE pg_catalog."C" OPERATOR(pg_catalog.~) {words} THEN k.written
             ELSE k.written OPERATOR(pg_catalog.||) ' ' OPERATOR(pg_catalog.||)
                  pg_catalog.left(pg_catalog.encode(pg_catalog.sha256(pg_catalog.convert_to(k.written, 'UTF8')), 'hex'), 8) END
 FROM (SELECT {parts} AS written) AS k)

-- name: short
-- A value as a text; NULL where it is NULL, or too long for a name. What is longer is not to leave the server's memory for values.
(SELECT x.value FROM (SELECT pg_catalog.btrim(pg_catalog.format('%s', {value})) AS value) AS x
 WHERE pg_catalog.num_nulls({value}) = 0 AND pg_catalog.octet_length(x.value) <= {most_bytes})

-- name: named
-- What the row is called by the column of its names to which a column refers.
(SELECT {name} FROM {only} {table} AS t WHERE {has_key})

-- name: same_key
t.{key} {equal} c.{column}

-- name: said_never
-- The number of a relation, from 1; the name of its subject and, of a row, what it is called by its key; likewise of its object.
SELECT NULL::integer, NULL::text, NULL::text, NULL::text, NULL::text

-- name: said_once
SELECT {place}, {subject}, {subject_row}, {object}, {object_row}

-- name: said_by_each
SELECT {place}, {subject}, {subject_row}, {object}, {object_row}
FROM (SELECT e.value FROM pg_catalog.unnest(c.{column}) AS e (value) LIMIT {most}) AS e

-- name: forget_other
-- $1: chunks; $2..$5: chunk, subject, predicate and object of what is said now. Relations of these chunks that are not
-- among them.
DELETE FROM {relations} AS r
WHERE r.chunk_id = ANY ($1)
  AND NOT EXISTS (
      SELECT FROM ROWS FROM (pg_catalog.unnest($2::bigint[]), pg_catalog.unnest($3::text[]),
                             pg_catalog.unnest($4::text[]), pg_catalog.unnest($5::text[]))
           AS u (chunk_id, subject, predicate, object)
      WHERE u.chunk_id = r.chunk_id AND u.subject = r.subject AND u.predicate = r.predicate AND u.object = r.object)

-- name: insert
-- $1..$6: chunk, subject, predicate and object of what is said, and how the row writes subject and object.
INSERT INTO {relations} AS r (chunk_id, subject, predicate, object, subject_name, object_name)
SELECT u.chunk_id, u.subject, u.predicate, u.object, u.subject_name, u.object_name
FROM ROWS FROM (pg_catalog.unnest($1::bigint[]), pg_catalog.unnest($2::text[]),
                pg_catalog.unnest($3::text[]), pg_catalog.unnest($4::text[]),
                pg_catalog.unnest($5::text[]), pg_catalog.unnest($6::text[]))
     AS u (chunk_id, subject, predicate, object, subject_name, object_name)
ON CONFLICT (chunk_id, subject, predicate, object) DO UPDATE
SET (subject_name, object_name) = ROW(EXCLUDED.subject_name, EXCLUDED.object_name)
WHERE ROW(r.subject_name, r.object_name) IS DISTINCT FROM ROW(EXCLUDED.subject_name, EXCLUDED.object_name)

-- name: seen
-- Relations with the chunks that say them, of those that the caller sees.
{relations} AS r
JOIN {view} AS v ON v.chunk_id OPERATOR(pg_catalog.=) r.chunk_id

-- name: names
-- Subject and object of a relation as they are written.
r.subject_name, r.object_name

-- name: known
-- Which of some names relations have that the caller sees and the filter lets pass, of columns or of texts. $1: normal forms,
-- $3: the filter's values.
SELECT u.norm
FROM pg_catalog.unnest($1::pg_catalog.text[]) WITH ORDINALITY AS u (norm, place)
WHERE EXISTS (SELECT FROM {seen} WHERE r.subject OPERATOR(pg_catalog.=) u.norm COLLATE pg_catalog."C" AND {filter})
   OR EXISTS (SELECT FROM {seen} WHERE r.object OPERATOR(pg_catalog.=) u.norm COLLATE pg_catalog."C" AND {filter})
ORDER BY u.place

-- name: menu
-- What relations are called that the caller sees and the filter lets pass, each with a subject and an object as they are
-- written, and how many are called so. Each predicate is looked up in the index behind the one before, however many relations have it. $1: how many
-- predicates are looked at, $2: how many relations of each are counted, $3: the filter's values.
WITH RECURSIVE p (predicate, place) AS (
    (SELECT r.predicate, 1::pg_catalog.int8 FROM {relations} AS r WHERE r.predicate IS NOT NULL ORDER BY r.predicate LIMIT 1)
    UNION ALL
    SELECT n.predicate, p.place OPERATOR(pg_catalog.+) 1
    FROM p
    CROSS JOIN LATERAL (SELECT r.predicate FROM {relations} AS r
                        WHERE r.predicate OPERATOR(pg_catalog.>) p.predicate
                        ORDER BY r.predicate LIMIT 1) AS n
    WHERE p.place OPERATOR(pg_catalog.<) $1)
SELECT p.predicate, e.subject_name, e.object_name,
       (SELECT pg_catalog.count(*)
        FROM (SELECT FROM {seen} WHERE r.predicate OPERATOR(pg_catalog.=) p.predicate AND {filter} LIMIT $2) AS r)
FROM p
CROSS JOIN LATERAL (SELECT {names} FROM {seen}
                    WHERE r.predicate OPERATOR(pg_catalog.=) p.predicate AND {filter}
                    LIMIT 1) AS e (subject_name, object_name)
ORDER BY p.place

-- name: of_chunks
-- Entities of the relations of chunks, and how one of these writes them. $1: keys of chunks, $2: how many, $3: the filter's
-- values.
SELECT DISTINCT ON (u.norm) u.norm, u.name
FROM {seen}
CROSS JOIN LATERAL (SELECT {names}) AS n (subject_name, object_name)
CROSS JOIN LATERAL (VALUES (r.subject, n.subject_name), (r.object, n.object_name)) AS u (norm, name)
WHERE v.chunk_id OPERATOR(pg_catalog.=) ANY ($1) AND u.norm IS NOT NULL AND {filter}
ORDER BY u.norm, v.chunk_id, u.name
LIMIT $2

-- name: of_predicate
r.predicate OPERATOR(pg_catalog.=) p.predicate COLLATE pg_catalog."C"

-- name: steps
-- From entities over relations to others, each other one with a predicate and a direction once: the number of the entity,
-- from 1, and as the relation writes it; the other's normal form, and as the relation writes it; predicate, and whether the
-- other one is the subject; how many chunks say it; row, chunk and its number of the first; where that names both in the
-- document; who says it, where the document does, and in which words. What the filter does not let pass is as if it were
-- not there. $1: normal forms, $2: predicates, or one that is NULL for all, $3: the filter's values, $4: how many relations of
-- each with a predicate in a direction.
SELECT DISTINCT ON (u.place, r.norm, r.predicate, r.is_inverse)
       u.place, r.own_name, r.norm, r.name, r.predicate, r.is_inverse,
       pg_catalog.count(*) OVER (PARTITION BY u.place, r.norm, r.predicate, r.is_inverse),
       {source_key}, v.chunk_id, v.chunk_no,
       v.start_char OPERATOR(pg_catalog.+) a.start_char, v.start_char OPERATOR(pg_catalog.+) a.end_char,
       v.start_char OPERATOR(pg_catalog.+) b.start_char, v.start_char OPERATOR(pg_catalog.+) b.end_char,
       'sql', NULL::pg_catalog.int4, NULL::pg_catalog.int4, NULL::pg_catalog.text
FROM pg_catalog.unnest($1::pg_catalog.text[]) WITH ORDINALITY AS u (norm, place)
CROSS JOIN LATERAL (SELECT DISTINCT p.predicate FROM pg_catalog.unnest($2::pg_catalog.text[]) AS p (predicate)) AS p
CROSS JOIN LATERAL (
    (SELECT r.chunk_id, r.subject_name, r.object, r.object_name, r.predicate, false
     FROM {seen}
     WHERE r.subject OPERATOR(pg_catalog.=) u.norm COLLATE pg_catalog."C"
       AND {of_predicate}
       AND {filter}
     ORDER BY r.subject, r.chunk_id
     LIMIT $4)
    UNION ALL
    (SELECT r.chunk_id, r.object_name, r.subject, r.subject_name, r.predicate, true
     FROM {seen}
     WHERE r.object OPERATOR(pg_catalog.=) u.norm COLLATE pg_catalog."C"
       AND {of_predicate}
       AND {filter}
     ORDER BY r.object, r.chunk_id
     LIMIT $4)) AS r (chunk_id, own_name, norm, name, predicate, is_inverse)
JOIN {view} AS v ON v.chunk_id OPERATOR(pg_catalog.=) r.chunk_id
LEFT JOIN {mentions} AS a ON a.chunk_id OPERATOR(pg_catalog.=) v.chunk_id AND a.norm OPERATOR(pg_catalog.=) u.norm COLLATE pg_catalog."C"
LEFT JOIN {mentions} AS b ON b.chunk_id OPERATOR(pg_catalog.=) v.chunk_id AND b.norm OPERATOR(pg_catalog.=) r.norm
ORDER BY u.place, r.norm, r.predicate, r.is_inverse, v.chunk_id
