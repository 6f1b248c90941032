-- Conversations and their turns.

-- name: find
SELECT id FROM rag.conversation WHERE id OPERATOR(pg_catalog.=) $1

-- name: insert
-- $1: ID, $2: role, $3: title.
INSERT INTO rag.conversation (id, owner, title) VALUES ($1, $2::name, $3)

-- name: delete
-- $1: the caller, $2: ID.
DELETE FROM rag.conversation
WHERE id OPERATOR(pg_catalog.=) $2 AND pg_catalog.pg_has_role($1::pg_catalog.oid, owner_id, 'USAGE')

-- name: turns
-- $1: conversation, $2: how many turns. The last ones, in order.
SELECT standalone, answer, question, withheld
FROM (SELECT id, standalone, answer, question, withheld FROM rag.conversation_turn WHERE conversation OPERATOR(pg_catalog.=) $1 ORDER BY id DESC LIMIT $2) AS t
ORDER BY id

-- name: turn_insert
-- $1: conversation, $2: question, $3: as it stands alone, $4: answer, $5: trace, $6: what was withheld. Of one that has been
-- deleted meanwhile nothing is kept.
INSERT INTO rag.conversation_turn (conversation, question, standalone, answer, trace, withheld)
SELECT c.id, $2, $3, $4, $5, $6 FROM rag.conversation AS c WHERE c.id OPERATOR(pg_catalog.=) $1 FOR KEY SHARE
