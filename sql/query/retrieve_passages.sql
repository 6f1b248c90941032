-- Chunks by their keys. $1: the question's vector, NULL where it has none; $2: the keys.
SELECT v.chunk_id, {source_key}, v.chunk_no, v.content, v.start_char, v.end_char, v.heading,
       {metadata}, 1 OPERATOR(pg_catalog.-) (v.embedding OPERATOR({vector}.<=>) $1) AS similarity, {age}, {embedding}
FROM {view} AS v
WHERE v.chunk_id OPERATOR(pg_catalog.=) ANY ($2)
