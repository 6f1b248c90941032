-- The chunks around others in their documents. $1: the keys of those, $2: how far,
-- $3: whether they must stand under the same heading, $4: whether they must have the same parent.
SELECT h.chunk_id, v.chunk_id, v.chunk_no, v.content, v.start_char, v.end_char
FROM {view} AS h
JOIN {view} AS v ON v.chunk_no OPERATOR(pg_catalog.>=) (h.chunk_no OPERATOR(pg_catalog.-) $2)
  AND v.chunk_no OPERATOR(pg_catalog.<=) (h.chunk_no OPERATOR(pg_catalog.+) $2){same_source}
WHERE h.chunk_id OPERATOR(pg_catalog.=) ANY ($1) AND (NOT $3 OR v.heading OPERATOR(pg_catalog.=) h.heading OR v.heading IS NULL AND h.heading IS NULL)
  AND (NOT $4 OR v.parent_start OPERATOR(pg_catalog.=) h.parent_start)
