-- Keeps what somebody thinks of an answer. $1: its trace, $2: a score from 0 to 1, $3: a comment.
SELECT rag_feedback($1, $2, $3)
