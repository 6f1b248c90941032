-- What texts say of two entities, as a language model reads them: rows for the text of each chunk.

-- name: create_table
CREATE TABLE {table} (
    content_hash  pg_catalog.bytea NOT NULL,
    no            integer NOT NULL,
    template      pg_catalog.text NOT NULL,
    subject       pg_catalog.text COLLATE pg_catalog."C",
    predicate     pg_catalog.text COLLATE pg_catalog."C",
    object        pg_catalog.text COLLATE pg_catalog."C",
    subject_start integer,
    subject_end   integer,
    object_start  integer,
    object_end    integer,
    start_char    integer,
    end_char      integer,
    unreadable    boolean NOT NULL,
    PRIMARY KEY (content_hash, no),
    CHECK ((no OPERATOR(pg_catalog.=) 0) OPERATOR(pg_catalog.=) (subject IS NULL))
)

-- name: comment_table
COMMENT ON TABLE {table} IS 'relations that a language model has found in the texts of chunks, each with the words that state it: subject, predicate, object';
COMMENT ON COLUMN {table}.content_hash IS 'content_hash of the chunks whose text states it';
COMMENT ON COLUMN {table}.no IS 'number of the relation among those of its text, from 1; 0 where none was found';
COMMENT ON COLUMN {table}.template IS 'template in which the language model was asked, with its version, and the predicates that were asked for';
COMMENT ON COLUMN {table}.subject IS 'normal form of the subject, as in the table of mentions; NULL where none was found, as are the columns that follow';
COMMENT ON COLUMN {table}.predicate IS 'what the subject is to the object';
COMMENT ON COLUMN {table}.object IS 'normal form of the object';
COMMENT ON COLUMN {table}.subject_start IS 'first character of the subject in the content of the chunk, counted from 0';
COMMENT ON COLUMN {table}.subject_end IS 'one past the last character of the subject';
COMMENT ON COLUMN {table}.object_start IS 'first character of the object in the content of the chunk, counted from 0';
COMMENT ON COLUMN {table}.object_end IS 'one past the last character of the object';
COMMENT ON COLUMN {table}.start_char IS 'first character of the words that state it in the content of the chunk, counted from 0';
COMMENT ON COLUMN {table}.end_char IS 'one past the last character of these words';
COMMENT ON COLUMN {table}.unreadable IS 'whether none was found because no reply of the language model could be read'

-- name: create_indexes
CREATE INDEX ON {table} (subject, content_hash);
CREATE INDEX ON {table} (object, content_hash);
CREATE INDEX ON {table} (subject, predicate, content_hash);
CREATE INDEX ON {table} (object, predicate, content_hash);
CREATE INDEX ON {table} (predicate, subject)

-- name: forget_older
-- What has been found in texts that were read for the old generation of the chunks in another template since.
DELETE FROM {relations} AS r
WHERE EXISTS (SELECT FROM {old} AS o WHERE o.content_hash = r.content_hash AND o.template <> r.template)

-- name: inherit
-- What has been found in the texts of the old generation of the chunks, but for those that are known.
INSERT INTO {relations}
SELECT o.* FROM {old} AS o
WHERE NOT EXISTS (SELECT FROM {relations} AS r WHERE r.content_hash = o.content_hash)

-- name: forget_unreadable
-- Texts about which no reply could be read.
DELETE FROM {relations} WHERE unreadable

-- name: count_texts
-- How many texts have been read.
SELECT pg_catalog.count(DISTINCT content_hash) FROM {relations}

-- name: insert
-- $1: the template; $2: hash of the text, $3: number, $4..$6: subject, predicate and object, $7..$12: first character of the
-- subject and one past its last, likewise of the object, and of the words that state it; $13: whether no reply could be read. A
-- text without relations has one row.
INSERT INTO {relations} (content_hash, no, template, subject, predicate, object, subject_start, subject_end,
                         object_start, object_end, start_char, end_char, unreadable)
SELECT u.content_hash, u.no, $1, u.subject, u.predicate, u.object, u.subject_start, u.subject_end,
       u.object_start, u.object_end, u.start_char, u.end_char, u.unreadable
FROM ROWS FROM (pg_catalog.unnest($2::bytea[]), pg_catalog.unnest($3::integer[]), pg_catalog.unnest($4::text[]),
                pg_catalog.unnest($5::text[]), pg_catalog.unnest($6::text[]), pg_catalog.unnest($7::integer[]),
                pg_catalog.unnest($8::integer[]), pg_catalog.unnest($9::integer[]), pg_catalog.unnest($10::integer[]),
                pg_catalog.unnest($11::integer[]), pg_catalog.unnest($12::integer[]), pg_catalog.unnest($13::boolean[]))
     AS u (content_hash, no, subject, predicate, object, subject_start, subject_end, object_start, object_end,
           start_char, end_char, unreadable)
ON CONFLICT DO NOTHING

-- name: seen
-- As in column_relations.sql.
{relations} AS r
JOIN {chunk_table} AS c ON c.content_hash OPERATOR(pg_catalog.=) r.content_hash
JOIN {view} AS v ON v.chunk_id OPERATOR(pg_catalog.=) c.chunk_id

-- name: names
-- As in column_relations.sql.
pg_catalog.substr(v.content, r.subject_start OPERATOR(pg_catalog.+) 1, r.subject_end OPERATOR(pg_catalog.-) r.subject_start),
pg_catalog.substr(v.content, r.object_start OPERATOR(pg_catalog.+) 1, r.object_end OPERATOR(pg_catalog.-) r.object_start)

-- name: steps
-- As in column_relations.sql, with the method, the place and the words in which the document states it. Of the chunks with one
-- text a few are looked at, however many have it. $1: normal forms, $2: predicates, or one that is NULL for all, $3: the
-- filter's values, $4: how many relations of each with a predicate in a direction, $5: how many chunks of a text.
SELECT DISTINCT ON (u.place, r.norm, r.predicate, r.is_inverse)
       u.place,
       pg_catalog.substr(v.content, r.own_start OPERATOR(pg_catalog.+) 1, r.own_end OPERATOR(pg_catalog.-) r.own_start),
       r.norm,
       pg_catalog.substr(v.content, r.other_start OPERATOR(pg_catalog.+) 1, r.other_end OPERATOR(pg_catalog.-) r.other_start),
       r.predicate, r.is_inverse,
       pg_catalog.count(*) OVER (PARTITION BY u.place, r.norm, r.predicate, r.is_inverse),
       v.source_key, v.chunk_id, v.chunk_no,
       v.start_char OPERATOR(pg_catalog.+) r.own_start, v.start_char OPERATOR(pg_catalog.+) r.own_end,
       v.start_char OPERATOR(pg_catalog.+) r.other_start, v.start_char OPERATOR(pg_catalog.+) r.other_end,
       'llm', v.start_char OPERATOR(pg_catalog.+) r.start_char, v.start_char OPERATOR(pg_catalog.+) r.end_char,
       pg_catalog.substr(v.content, r.start_char OPERATOR(pg_catalog.+) 1, r.end_char OPERATOR(pg_catalog.-) r.start_char)
FROM pg_catalog.unnest($1::pg_catalog.text[]) WITH ORDINALITY AS u (norm, place)
CROSS JOIN LATERAL (SELECT DISTINCT p.predicate FROM pg_catalog.unnest($2::pg_catalog.text[]) AS p (predicate)) AS p
CROSS JOIN LATERAL (
    (SELECT r.content_hash, r.object, r.predicate, false, r.subject_start, r.subject_end, r.object_start, r.object_end,
            r.start_char, r.end_char
     FROM {relations} AS r
     WHERE r.subject OPERATOR(pg_catalog.=) u.norm COLLATE pg_catalog."C"
       AND {of_predicate}
       AND {passes}
     ORDER BY r.subject, r.content_hash
     LIMIT $4)
    UNION ALL
    (SELECT r.content_hash, r.subject, r.predicate, true, r.object_start, r.object_end, r.subject_start, r.subject_end,
            r.start_char, r.end_char
     FROM {relations} AS r
     WHERE r.object OPERATOR(pg_catalog.=) u.norm COLLATE pg_catalog."C"
       AND {of_predicate}
       AND {passes}
     ORDER BY r.object, r.content_hash
     LIMIT $4)) AS r (content_hash, norm, predicate, is_inverse, own_start, own_end, other_start, other_end, start_char, end_char)
CROSS JOIN LATERAL (
    SELECT {source_key} AS source_key, v.chunk_id, v.chunk_no, v.start_char, v.content
    FROM {chunk_table} AS c
    JOIN {view} AS v ON v.chunk_id OPERATOR(pg_catalog.=) c.chunk_id
    WHERE c.content_hash OPERATOR(pg_catalog.=) r.content_hash AND {filter}
    LIMIT $5) AS v
ORDER BY u.place, r.norm, r.predicate, r.is_inverse, v.chunk_id

-- name: passes
EXISTS (SELECT FROM {chunk_table} AS c
        JOIN {view} AS v ON v.chunk_id OPERATOR(pg_catalog.=) c.chunk_id
        WHERE c.content_hash OPERATOR(pg_catalog.=) r.content_hash AND {filter})
