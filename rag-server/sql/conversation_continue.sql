-- The conversation of the role in which just what a history says was said last, or a new one; NULL where nothing can be
-- written. $1: the question that follows, $2: the history, as the option answer.history has it.
SELECT rag_conversation_continue($1, history => $2)
