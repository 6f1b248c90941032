-- $1: conversation, $2: question, $3: as it stands alone, $4: answer, $5: trace.
INSERT INTO rag.conversation_turn (conversation, question, standalone, answer, trace) VALUES ($1, $2, $3, $4, $5)
