-- Communities of the entities that chunks name: a row for each entity of each community that it is in. A community has
-- no row of its own: what is said of all of it would tell a role of members that it does not see.

-- name: create_table
CREATE TABLE {table} (
    norm      pg_catalog.text COLLATE pg_catalog."C" NOT NULL,
    level     integer NOT NULL,
    community bigint NOT NULL,
    parent    bigint,
    PRIMARY KEY (norm, level)
)

-- name: leaf
ARRAY[(SELECT m.chunk_id FROM {mentions} AS m WHERE m.norm OPERATOR(pg_catalog.=) {table}.norm LIMIT 1)]

-- name: create_index
CREATE INDEX ON {table} (community, norm)

-- name: comment_table
COMMENT ON TABLE {table} IS 'communities of entities that chunks name together, level by level; seen is an entity that a chunk names which the role sees';
COMMENT ON COLUMN {table}.norm IS 'normal form of the entity, as in the table of mentions';
COMMENT ON COLUMN {table}.level IS '0: a community of the whole graph; 1: a part of a large one of these, and so on';
COMMENT ON COLUMN {table}.community IS 'number of the community, which it keeps as long as its members are the same; once it is gone, another one may get it';
COMMENT ON COLUMN {table}.parent IS 'number of the community that it is a part of; NULL at level 0'

-- name: standing
-- What communities are made of: the last chunk that names anything, how many mentions there are, how many of them
-- are of chunks behind $1, and how many chunks name anything.
SELECT coalesce(pg_catalog.max(m.chunk_id), 0), pg_catalog.count(*), pg_catalog.count(*) FILTER (WHERE m.chunk_id > $1),
       pg_catalog.count(DISTINCT m.chunk_id)
FROM {mentions} AS m

-- name: entities
-- Entities that some chunks name, two at least, and these chunks. $1: how many chunks at most.
SELECT m.norm, pg_catalog.array_agg(m.chunk_id ORDER BY m.chunk_id)
FROM {mentions} AS m
GROUP BY m.norm
HAVING pg_catalog.count(*) BETWEEN 2 AND $1
ORDER BY m.norm

-- name: members
SELECT c.norm, c.level, c.community, c.parent FROM {communities} AS c ORDER BY c.level, c.norm

-- name: delete
-- $1, $2: entities and levels.
DELETE FROM {communities} AS c
USING ROWS FROM (pg_catalog.unnest($1::text[]), pg_catalog.unnest($2::integer[])) AS u (norm, level)
WHERE c.norm = u.norm COLLATE pg_catalog."C" AND c.level = u.level

-- name: put
-- $1..$4: entity, level, community and its parent.
INSERT INTO {communities} (norm, level, community, parent)
SELECT u.norm, u.level, u.community, u.parent
FROM ROWS FROM (pg_catalog.unnest($1::text[]), pg_catalog.unnest($2::integer[]),
                pg_catalog.unnest($3::bigint[]), pg_catalog.unnest($4::bigint[])) AS u (norm, level, community, parent)
ON CONFLICT (norm, level) DO UPDATE SET (community, parent) = ROW(EXCLUDED.community, EXCLUDED.parent)

-- name: forget_gone
-- Entities that no chunk names any more.
DELETE FROM {communities} AS c WHERE NOT EXISTS (SELECT FROM {mentions} AS m WHERE m.norm = c.norm)

-- name: of_chunks
-- How often chunks name members of each community: the chunk, the community, and how often. $1: keys of chunks, $2: the
-- deepest level that is looked at; an entity counts for its community of the deepest one.
SELECT m.chunk_id, g.community, pg_catalog.sum(m.mentions)::pg_catalog.int8
FROM {mentions} AS m
CROSS JOIN LATERAL (
    SELECT c.community
    FROM {communities} AS c
    WHERE c.norm OPERATOR(pg_catalog.=) m.norm AND c.level OPERATOR(pg_catalog.<=) $2
    ORDER BY c.level DESC
    LIMIT 1) AS g
WHERE m.chunk_id OPERATOR(pg_catalog.=) ANY ($1)
GROUP BY m.chunk_id, g.community
ORDER BY m.chunk_id, g.community

-- name: those_of
-- Those of some entities that are members of a community. $1: its number, $2: normal forms.
SELECT c.norm
FROM {communities} AS c
WHERE c.community OPERATOR(pg_catalog.=) $1 AND c.norm OPERATOR(pg_catalog.=) ANY ($2::pg_catalog.text[])

-- name: chunks
-- The chunks that name most members of communities, which the caller sees and the filter lets pass: the place of the
-- community, from 1, and the chunk. $1: communities, $2: how many chunks of each, $3: the filter's values, $4: how many
-- members of each are looked at.
SELECT u.place, n.chunk_id
FROM pg_catalog.unnest($1::pg_catalog.int8[]) WITH ORDINALITY AS u (community, place)
CROSS JOIN LATERAL (
    SELECT v.chunk_id, pg_catalog.count(*) AS members, pg_catalog.sum(m.mentions) AS mentions
    FROM (SELECT c.norm FROM {communities} AS c
          WHERE c.community OPERATOR(pg_catalog.=) u.community
          ORDER BY c.community, c.norm
          LIMIT $4) AS c
    JOIN {mentions} AS m ON m.norm OPERATOR(pg_catalog.=) c.norm
    JOIN {view} AS v ON v.chunk_id OPERATOR(pg_catalog.=) m.chunk_id
    WHERE {filter}
    GROUP BY v.chunk_id
    ORDER BY members DESC, mentions DESC, v.chunk_id
    LIMIT $2) AS n
ORDER BY u.place, n.members DESC, n.mentions DESC, n.chunk_id
