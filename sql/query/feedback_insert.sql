-- $1: trace, $2: role, $3: score, $4: comment.
INSERT INTO rag.feedback (trace, owner, score, comment)
SELECT t.id, $2::name, $3, $4 FROM rag.trace_log AS t WHERE t.id OPERATOR(pg_catalog.=) $1 FOR KEY SHARE
