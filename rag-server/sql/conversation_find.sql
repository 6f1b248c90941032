-- The conversation of the role in which just the last of what was asked and answered was, in this order: the one that goes
-- back furthest, of twenty places where one could have begun. $1: for each turn the title of a conversation that begins
-- with it, $2: the questions, $3: the answers, both without white space around them.
--
-- The title is compared first: it may be read before the policies are asked, and turns are found by their conversation.
WITH begun AS MATERIALIZED (
    SELECT s.title, s.place::pg_catalog.int4 AS place, r.oid AS owner
    FROM pg_catalog.unnest($1) WITH ORDINALITY AS s (title, place)
    JOIN pg_catalog.pg_roles AS r ON r.rolname OPERATOR(pg_catalog.=) CURRENT_USER
    WHERE EXISTS (SELECT FROM rag.conversation AS c WHERE c.title OPERATOR(pg_catalog.=) s.title AND c.owner_id OPERATOR(pg_catalog.=) r.oid)
    ORDER BY s.place
    LIMIT 20
)
SELECT c.id
FROM begun AS b
JOIN rag.conversation AS c ON c.title OPERATOR(pg_catalog.=) b.title AND c.owner_id OPERATOR(pg_catalog.=) b.owner
WHERE ($2)[b.place:] OPERATOR(pg_catalog.=) (SELECT pg_catalog.array_agg(pg_catalog.btrim(t.question, E' \n\t\r') ORDER BY t.id)
                                           FROM rag.conversation_turn AS t WHERE t.conversation OPERATOR(pg_catalog.=) c.id)
  AND ($3)[b.place:] OPERATOR(pg_catalog.=) (SELECT pg_catalog.array_agg(pg_catalog.btrim(t.answer, E' \n\t\r') ORDER BY t.id)
                                           FROM rag.conversation_turn AS t WHERE t.conversation OPERATOR(pg_catalog.=) c.id)
ORDER BY b.place, c.created_at DESC
LIMIT 1
