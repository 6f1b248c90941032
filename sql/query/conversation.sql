-- Conversations and their turns.

-- name: find
SELECT id FROM rag.conversation WHERE id OPERATOR(pg_catalog.=) $1

-- name: insert
-- $1: ID, $2: role, $3: title.
INSERT INTO rag.conversation (id, owner, title) VALUES ($1, $2::name, $3)

-- name: continued
-- $1: role, $2: for each turn the title of a conversation that begins with it, $3: the questions, $4: the answers, both
-- without white space around them. The conversation of the role in which just the last of these were asked and answered,
-- in this order: the one that goes back furthest, of twenty places where one could have begun, and of the newest thousand
-- conversations for each.
--
-- Titles are looked up in the index conversation_by_title, of which this repeats the condition, and one by one: where
-- LIMIT does not forbid it, all conversations may be read for them.
WITH begun AS MATERIALIZED (
    SELECT t.title, t.place::pg_catalog.int4 AS place
    FROM pg_catalog.unnest($2) WITH ORDINALITY AS t (title, place)
    CROSS JOIN LATERAL (
        SELECT FROM rag.conversation AS c
        WHERE c.owner_id OPERATOR(pg_catalog.=) $1 AND c.title OPERATOR(pg_catalog.=) t.title
          AND pg_catalog.octet_length(c.title) OPERATOR(pg_catalog.<=) 1000
        LIMIT 1) AS c
    ORDER BY t.place
    LIMIT 20
)
SELECT c.id
FROM begun AS b
CROSS JOIN LATERAL (
    SELECT c.id, c.created_at
    FROM rag.conversation AS c
    WHERE c.owner_id OPERATOR(pg_catalog.=) $1 AND c.title OPERATOR(pg_catalog.=) b.title
      AND pg_catalog.octet_length(c.title) OPERATOR(pg_catalog.<=) 1000
    ORDER BY c.created_at DESC
    LIMIT 1000) AS c
CROSS JOIN LATERAL (
    SELECT pg_catalog.array_agg(pg_catalog.btrim(t.question, E' \n\t\r') ORDER BY t.id) AS questions,
           pg_catalog.array_agg(pg_catalog.btrim(t.answer, E' \n\t\r') ORDER BY t.id) AS answers
    FROM rag.conversation_turn AS t
    WHERE t.conversation OPERATOR(pg_catalog.=) c.id) AS kept
WHERE $3[b.place:] OPERATOR(pg_catalog.=) kept.questions AND $4[b.place:] OPERATOR(pg_catalog.=) kept.answers
ORDER BY b.place, c.created_at DESC
LIMIT 1

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
