-- $1: conversation, $2: question, $3: as it stands alone, $4: answer, $5: trace. Of one that has been
-- deleted meanwhile nothing is kept.
INSERT INTO rag.conversation_turn (conversation, question, standalone, answer, trace)
SELECT c.id, $2, $3, $4, $5 FROM rag.conversation AS c WHERE c.id OPERATOR(pg_catalog.=) $1 FOR KEY SHARE
