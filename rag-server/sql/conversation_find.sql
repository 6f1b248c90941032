-- The conversation of the role in which just this was asked and answered, in this order. $1: its title, $2: the
-- questions, $3: the answers, both without white space around them.
--
-- The title is compared first: it may be read before the policies are asked, and turns are found by their conversation.
SELECT c.id
FROM rag.conversation AS c
WHERE c.title = $1
  AND c.owner_id = (SELECT r.oid FROM pg_catalog.pg_roles AS r WHERE r.rolname = CURRENT_USER)
  AND $2 = (SELECT pg_catalog.array_agg(pg_catalog.btrim(t.question, E' \n\t\r') ORDER BY t.id)
            FROM rag.conversation_turn AS t WHERE t.conversation = c.id)
  AND $3 = (SELECT pg_catalog.array_agg(pg_catalog.btrim(t.answer, E' \n\t\r') ORDER BY t.id)
            FROM rag.conversation_turn AS t WHERE t.conversation = c.id)
ORDER BY c.created_at DESC
LIMIT 1
