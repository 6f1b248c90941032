-- The chunks around others in their documents. $1: the keys of those, $2: how far,
-- $3: whether they must stand under the same heading, $4: whether they must have the same parent.
SELECT h.chunk_id, v.chunk_id, v.chunk_no, v.content, v.start_char, v.end_char
FROM {view} AS h
JOIN {view} AS v ON v.chunk_no BETWEEN h.chunk_no - $2 AND h.chunk_no + $2{same_source}
WHERE h.chunk_id = ANY ($1) AND (NOT $3 OR v.heading IS NOT DISTINCT FROM h.heading)
  AND (NOT $4 OR v.parent_start = h.parent_start)
