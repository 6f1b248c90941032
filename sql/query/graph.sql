-- What chunks name: a row for each entity of each chunk. Entities have no rows of their own.

-- name: create_table
CREATE TABLE {table} (
    chunk_id   bigint NOT NULL REFERENCES {chunk_table} ON DELETE CASCADE,
    norm       pg_catalog.text COLLATE pg_catalog."C" NOT NULL,
    alias_of   pg_catalog.text COLLATE pg_catalog."C",
    mentions   integer NOT NULL,
    start_char integer,
    end_char   integer,
    kind       pg_catalog.text,
    PRIMARY KEY (norm, chunk_id)
)

-- name: comment_table
COMMENT ON TABLE {table} IS 'entities that chunks name, found by rules or a model; chunks that name the same are tied by it';
COMMENT ON COLUMN {table}.chunk_id IS 'chunk that names the entity';
COMMENT ON COLUMN {table}.norm IS 'normal form of the name: in lower case, without accents; mentions with the same are of one entity';
COMMENT ON COLUMN {table}.alias_of IS 'normal form of the long name, where the chunk says that this one is short for it; else NULL';
COMMENT ON COLUMN {table}.mentions IS 'how often the chunk names it; a title counts twice';
COMMENT ON COLUMN {table}.start_char IS 'first character of its first place in the content of the chunk, counted from 0; NULL where title or headings alone name it';
COMMENT ON COLUMN {table}.end_char IS 'one past the last character of that place; NULL where title or headings alone name it';
COMMENT ON COLUMN {table}.kind IS 'what it is, as the model calls it that has found it, such as PER; NULL where rules have'

-- name: create_indexes
CREATE INDEX ON {table} (chunk_id);
CREATE INDEX ON {table} (norm, alias_of) WHERE alias_of IS NOT NULL;
CREATE INDEX ON {table} (alias_of, norm) WHERE alias_of IS NOT NULL

-- name: forget_all
TRUNCATE {mentions}

-- name: insert
-- $1..$7: chunk, normal form, that of the long name, how often, first character, one past the last, kind.
INSERT INTO {mentions} (chunk_id, norm, alias_of, mentions, start_char, end_char, kind)
SELECT u.chunk_id, u.norm, u.alias_of, u.mentions, u.start_char, u.end_char, u.kind
FROM ROWS FROM (pg_catalog.unnest($1::bigint[]), pg_catalog.unnest($2::text[]),
                pg_catalog.unnest($3::text[]), pg_catalog.unnest($4::integer[]),
                pg_catalog.unnest($5::integer[]), pg_catalog.unnest($6::integer[]),
                pg_catalog.unnest($7::text[]))
     AS u (chunk_id, norm, alias_of, mentions, start_char, end_char, kind)
ON CONFLICT DO NOTHING

-- name: named
-- What chunks name: chunk, its text, and of each entity normal form, how often, and where its first place begins and ends in
-- that text. $1: keys of chunks, $2: how many entities of each.
SELECT v.chunk_id, v.content, m.norms, m.counts, m.starts, m.ends
FROM {view} AS v
CROSS JOIN LATERAL (
    SELECT pg_catalog.array_agg(m.norm) AS norms, pg_catalog.array_agg(m.mentions) AS counts,
           pg_catalog.array_agg(m.start_char) AS starts, pg_catalog.array_agg(m.end_char) AS ends
    FROM (SELECT m.norm, m.mentions, m.start_char, m.end_char
          FROM {mentions} AS m
          WHERE m.chunk_id OPERATOR(pg_catalog.=) v.chunk_id
          ORDER BY m.mentions DESC, m.start_char, m.norm
          LIMIT $2) AS m) AS m
WHERE v.chunk_id OPERATOR(pg_catalog.=) ANY ($1) AND m.norms IS NOT NULL

-- name: frequent
-- Normal forms that many chunks name. $1: normal forms, $2: how many chunks are many.
SELECT u.norm
FROM pg_catalog.unnest($1::pg_catalog.text[]) AS u (norm)
WHERE (SELECT pg_catalog.count(*)
       FROM (SELECT FROM {mentions} AS m
             WHERE m.norm OPERATOR(pg_catalog.=) u.norm COLLATE pg_catalog."C"
             LIMIT $2) AS m) OPERATOR(pg_catalog.>=) $2

-- name: naming
-- Chunks that name entities, by the names that are asked for: a row for each, with its number, from 1, and the keys of its
-- chunks. $1: normal forms, $2: how many chunks of each.
SELECT u.place,
       ARRAY(SELECT m.chunk_id FROM {mentions} AS m
             WHERE m.norm OPERATOR(pg_catalog.=) u.norm COLLATE pg_catalog."C"
             ORDER BY m.norm, m.chunk_id
             LIMIT $2)
FROM pg_catalog.unnest($1::pg_catalog.text[]) WITH ORDINALITY AS u (norm, place)

-- name: other_names
-- What names are short for, and what is short for them, of the first three mentions that say so, in the order of what they
-- say. $1: normal forms.
SELECT DISTINCT n.norm, n.other
FROM ((SELECT m.norm, m.alias_of AS other, pg_catalog.row_number() OVER (PARTITION BY m.norm ORDER BY m.alias_of) AS number
       FROM {mentions} AS m
       WHERE m.norm OPERATOR(pg_catalog.=) ANY ($1::pg_catalog.text[]) AND m.alias_of IS NOT NULL)
      UNION ALL
      (SELECT m.alias_of AS norm, m.norm AS other, pg_catalog.row_number() OVER (PARTITION BY m.alias_of ORDER BY m.norm) AS number
       FROM {mentions} AS m
       WHERE m.alias_of OPERATOR(pg_catalog.=) ANY ($1::pg_catalog.text[]) AND m.alias_of IS NOT NULL)) AS n
WHERE n.number OPERATOR(pg_catalog.<=) 3

-- name: known
-- Which of some normal forms chunks name that the caller sees. $1: normal forms.
SELECT u.norm
FROM pg_catalog.unnest($1::pg_catalog.text[]) WITH ORDINALITY AS u (norm, place)
WHERE EXISTS (SELECT FROM {mentions} AS m
              JOIN {view} AS v ON v.chunk_id OPERATOR(pg_catalog.=) m.chunk_id
              WHERE m.norm OPERATOR(pg_catalog.=) u.norm COLLATE pg_catalog."C")
ORDER BY u.place

-- name: visible
-- Those of some chunks that the caller may see and the filter lets pass, in their order. $1: keys of chunks,
-- $2: how many are wanted, $3: the filter's values.
SELECT v.chunk_id
FROM pg_catalog.unnest($1::pg_catalog.int8[]) WITH ORDINALITY AS u (chunk_id, place)
JOIN {view} AS v ON v.chunk_id OPERATOR(pg_catalog.=) u.chunk_id
WHERE {filter}
ORDER BY u.place
LIMIT $2

-- name: chunk_estimate
-- About how many rows a table has. $1: its OID.
SELECT c.reltuples::pg_catalog.float8 FROM pg_catalog.pg_class AS c WHERE c.oid OPERATOR(pg_catalog.=) $1

-- name: steps
-- From entities over chunks to others: the number of the entity, from 1, and as the chunk writes it; the other's
-- normal form, as the chunk writes it, and how often; row, chunk and its number; and where both stand in the
-- document. $1: normal forms, $2: how many chunks of each, $3: how many entities of a chunk.
SELECT u.place,
       coalesce(pg_catalog.substr(v.content, c.start_char OPERATOR(pg_catalog.+) 1, c.end_char OPERATOR(pg_catalog.-) c.start_char), u.norm),
       o.norm,
       coalesce(pg_catalog.substr(v.content, o.start_char OPERATOR(pg_catalog.+) 1, o.end_char OPERATOR(pg_catalog.-) o.start_char), o.norm),
       o.mentions, {source_key}, v.chunk_id, v.chunk_no,
       v.start_char OPERATOR(pg_catalog.+) c.start_char, v.start_char OPERATOR(pg_catalog.+) c.end_char,
       v.start_char OPERATOR(pg_catalog.+) o.start_char, v.start_char OPERATOR(pg_catalog.+) o.end_char
FROM pg_catalog.unnest($1::pg_catalog.text[]) WITH ORDINALITY AS u (norm, place)
CROSS JOIN LATERAL (
    SELECT m.chunk_id, m.start_char, m.end_char
    FROM {mentions} AS m
    WHERE m.norm OPERATOR(pg_catalog.=) u.norm COLLATE pg_catalog."C"
    ORDER BY m.norm, m.chunk_id
    LIMIT $2) AS c
JOIN {view} AS v ON v.chunk_id OPERATOR(pg_catalog.=) c.chunk_id
CROSS JOIN LATERAL (
    SELECT m.norm, m.mentions, m.start_char, m.end_char
    FROM {mentions} AS m
    WHERE m.chunk_id OPERATOR(pg_catalog.=) c.chunk_id
      AND m.norm OPERATOR(pg_catalog.<>) u.norm COLLATE pg_catalog."C"
    ORDER BY m.mentions DESC, m.start_char, m.norm
    LIMIT $3) AS o
ORDER BY u.place, c.chunk_id, o.mentions DESC, o.start_char, o.norm
