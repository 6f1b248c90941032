-- Texts that describe chunks and have no vectors yet. $1: how many.
SELECT r.content_hash, r.kind, r.no, r.content
FROM {representations} AS r
WHERE r.content IS NOT NULL AND r.embedding IS NULL
ORDER BY r.content_hash, r.kind, r.no
LIMIT $1
