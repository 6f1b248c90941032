-- $1: conversation, $2: how many turns. The last ones, in order.
SELECT standalone, answer
FROM (SELECT id, standalone, answer FROM rag.conversation_turn WHERE conversation OPERATOR(pg_catalog.=) $1 ORDER BY id DESC LIMIT $2) AS t
ORDER BY id
