-- The tree of the file :file, as one line of JSON.

WITH chunk AS (
    SELECT c.chunk_no, c.content_hash, c.heading, c.content
    FROM manual_rag_chunks AS c JOIN manual AS m ON m.id = c.source_id
    WHERE m.file = :'file'
), leaves AS (
    SELECT array_agg(content_hash ORDER BY chunk_no) AS hashes FROM chunk
), node AS (
    SELECT t.*, array_position(l.hashes, t.leaves[1]) - 1 AS first
    FROM manual_rag_chunks_tree AS t CROSS JOIN leaves AS l
    WHERE t.leaves <@ l.hashes
)
SELECT json_build_object(
    'title', :'file',
    'nodes', (SELECT json_agg(json_build_object(
                  'hash', encode(n.node_hash, 'hex'), 'level', n.level, 'first', n.first,
                  'last', n.first + cardinality(n.leaves) - 1, 'content', n.content,
                  'children', (SELECT json_agg(encode(child, 'hex')) FROM unnest(n.children) AS child))
                  ORDER BY n.level DESC, n.first)
              FROM node AS n),
    'chunks', (SELECT json_agg(json_build_object('no', c.chunk_no, 'heading', coalesce(c.heading, ''), 'content', c.content)
                               ORDER BY c.chunk_no)
               FROM chunk AS c));
