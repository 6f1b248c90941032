-- $1: trace, $2: role, $3: score, $4: comment.
INSERT INTO rag.feedback (trace, owner, score, comment) VALUES ($1, $2::name, $3, $4)
