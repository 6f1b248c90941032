-- Which documents the trees of a pipeline still have to follow, what their roots are, and which nodes may be of no tree.

-- name: mark
-- $1: pipeline, $2: first chunks of documents whose chunks have changed.
INSERT INTO rag.tree_change (pipeline, change, first_chunk)
SELECT $1, pg_catalog.nextval('rag.change'::regclass), u.first_chunk
FROM pg_catalog.unnest($2::bigint[]) AS u (first_chunk)

-- name: mark_rooted
-- $1: pipeline. All documents that have a tree.
INSERT INTO rag.tree_change (pipeline, change, first_chunk)
SELECT $1, pg_catalog.nextval('rag.change'::regclass), r.first_chunk FROM rag.tree_root AS r WHERE r.pipeline = $1

-- name: changed
-- $1: pipeline, $2: the last document that was looked at, by its first chunk, $3: how many. Documents that have changed, and
-- the numbers of the changes.
SELECT c.first_chunk, pg_catalog.array_agg(c.change)
FROM rag.tree_change AS c
WHERE c.pipeline = $1 AND c.first_chunk > $2
GROUP BY c.first_chunk
ORDER BY c.first_chunk
LIMIT $3

-- name: others
-- $1: pipeline, $2: a document. Whether another one has changed.
SELECT 1 FROM rag.tree_change AS c WHERE c.pipeline = $1 AND c.first_chunk <> $2 LIMIT 1

-- name: count
-- $1: pipeline, $2: how many are counted at most. Documents that have changed.
SELECT pg_catalog.count(*)
FROM (SELECT DISTINCT c.first_chunk FROM rag.tree_change AS c WHERE c.pipeline = $1 LIMIT $2) AS c

-- name: settle
-- $1: pipeline, $2: documents by their first chunks, $3: the root of each by now, or NULL where it has no tree any more. The
-- roots that have changed, and whether each is new.
WITH settled AS (
    SELECT u.first_chunk, u.root
    FROM ROWS FROM (pg_catalog.unnest($2::bigint[]), pg_catalog.unnest($3::bytea[])) AS u (first_chunk, root)
), old AS (
    SELECT r.first_chunk, r.root FROM rag.tree_root AS r JOIN settled AS s USING (first_chunk) WHERE r.pipeline = $1
), gone AS (
    DELETE FROM rag.tree_root AS r
    USING settled AS s
    WHERE r.pipeline = $1 AND r.first_chunk = s.first_chunk AND s.root IS NULL
), kept AS (
    INSERT INTO rag.tree_root AS r (pipeline, first_chunk, root)
    SELECT $1, s.first_chunk, s.root FROM settled AS s WHERE s.root IS NOT NULL
    ON CONFLICT (pipeline, first_chunk) DO UPDATE SET root = EXCLUDED.root WHERE r.root <> EXCLUDED.root
)
SELECT o.root, false FROM old AS o JOIN settled AS s USING (first_chunk) WHERE o.root IS DISTINCT FROM s.root
UNION ALL
SELECT s.root, true
FROM settled AS s LEFT JOIN old AS o USING (first_chunk)
WHERE s.root IS NOT NULL AND o.root IS DISTINCT FROM s.root

-- name: rooted
-- $1: pipeline, $2: what is known as a document and is none. The others that have a tree, and their roots.
SELECT r.first_chunk, r.root FROM rag.tree_root AS r WHERE r.pipeline = $1 AND r.first_chunk <> $2

-- name: places
-- $1: pipeline. Documents, by the hashes of their keys, and their places.
SELECT p.document, p.place FROM rag.tree_place AS p WHERE p.pipeline = $1

-- name: set_places
-- $1: pipeline, $2: all documents by the hashes of their keys, $3: their places.
WITH wanted AS (
    SELECT u.document, u.place
    FROM ROWS FROM (pg_catalog.unnest($2::bytea[]), pg_catalog.unnest($3::float8[])) AS u (document, place)
), gone AS (
    DELETE FROM rag.tree_place AS p
    WHERE p.pipeline = $1 AND NOT EXISTS (SELECT FROM wanted AS w WHERE w.document = p.document)
)
INSERT INTO rag.tree_place AS p (pipeline, document, place)
SELECT $1, w.document, w.place FROM wanted AS w
ON CONFLICT (pipeline, document) DO UPDATE SET place = EXCLUDED.place WHERE p.place <> EXCLUDED.place

-- name: forget_places
-- $1: pipeline.
DELETE FROM rag.tree_place WHERE pipeline = $1

-- name: forget_seen
-- $1: pipeline, $2: numbers of changes.
DELETE FROM rag.tree_change WHERE pipeline = $1 AND change = ANY ($2)

-- name: forget_changes
-- $1: pipeline.
DELETE FROM rag.tree_change WHERE pipeline = $1

-- name: forget_roots
-- $1: pipeline.
DELETE FROM rag.tree_root WHERE pipeline = $1

-- name: roots
-- $1: pipeline, $2: hashes of nodes. Those of them that are roots of documents.
SELECT DISTINCT r.root FROM rag.tree_root AS r WHERE r.pipeline = $1 AND r.root = ANY ($2)

-- name: roots_of
-- $1: pipeline, $2: first chunks of documents. The roots of these.
SELECT DISTINCT r.root FROM rag.tree_root AS r WHERE r.pipeline = $1 AND r.first_chunk = ANY ($2)

-- name: unmade
-- $1: pipeline, $2: first chunks of documents. A row if one of these has no tree and is still to get one.
SELECT 1
FROM pg_catalog.unnest($2::bigint[]) AS u (first_chunk)
WHERE NOT EXISTS (SELECT FROM rag.tree_root AS r WHERE r.pipeline = $1 AND r.first_chunk = u.first_chunk)
  AND (EXISTS (SELECT FROM rag.tree_change AS c WHERE c.pipeline = $1 AND c.first_chunk = u.first_chunk)
       OR EXISTS (SELECT FROM rag.derivation AS d WHERE d.pipeline = $1 AND d.kind = 'tree' AND d.state IS NULL))
LIMIT 1

-- name: add_candidates
-- $1: pipeline, $2: hashes of nodes that may be of no tree.
INSERT INTO rag.tree_candidate (pipeline, node_hash)
SELECT $1, u.node_hash FROM pg_catalog.unnest($2::bytea[]) AS u (node_hash)

-- name: candidates
-- $1: pipeline.
SELECT DISTINCT c.node_hash FROM rag.tree_candidate AS c WHERE c.pipeline = $1

-- name: forget_candidates
-- $1: pipeline.
DELETE FROM rag.tree_candidate WHERE pipeline = $1
