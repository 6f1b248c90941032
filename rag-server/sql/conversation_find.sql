-- The conversation of the role in which just the last of what was asked and answered was, in this order: the one that
-- goes back furthest, of twenty places where one could have begun, and of the newest thousand conversations for each.
-- $1: for each turn the title of a conversation that begins with it, $2: the questions, $3: the answers, both without
-- white space around them.
--
-- Titles are looked up in the index conversation_by_title, of which this repeats the condition, and one by one: where
-- LIMIT does not forbid it, all conversations may be read for them. clients/python has a copy of this statement.
WITH said AS MATERIALIZED (
    SELECT $1::pg_catalog.text[] AS titles, $2::pg_catalog.text[] AS questions, $3::pg_catalog.text[] AS answers
), begun AS MATERIALIZED (
    SELECT t.title, t.place::pg_catalog.int4 AS place, r.oid AS owner
    FROM said AS s
    CROSS JOIN LATERAL pg_catalog.unnest(s.titles) WITH ORDINALITY AS t (title, place)
    JOIN pg_catalog.pg_roles AS r ON r.rolname OPERATOR(pg_catalog.=) CURRENT_USER
    CROSS JOIN LATERAL (
        SELECT FROM rag.conversation AS c
        WHERE c.owner_id OPERATOR(pg_catalog.=) r.oid AND c.title OPERATOR(pg_catalog.=) t.title
          AND pg_catalog.octet_length(c.title) OPERATOR(pg_catalog.<=) 1000
        LIMIT 1) AS c
    ORDER BY t.place
    LIMIT 20
), found AS MATERIALIZED (
    SELECT c.id
    FROM said AS s
    CROSS JOIN begun AS b
    CROSS JOIN LATERAL (
        SELECT c.id, c.created_at
        FROM rag.conversation AS c
        WHERE c.owner_id OPERATOR(pg_catalog.=) b.owner AND c.title OPERATOR(pg_catalog.=) b.title
          AND pg_catalog.octet_length(c.title) OPERATOR(pg_catalog.<=) 1000
        ORDER BY c.created_at DESC
        LIMIT 1000) AS c
    CROSS JOIN LATERAL (
        SELECT pg_catalog.array_agg(pg_catalog.btrim(t.question, E' \n\t\r') ORDER BY t.id) AS questions,
               pg_catalog.array_agg(pg_catalog.btrim(t.answer, E' \n\t\r') ORDER BY t.id) AS answers
        FROM rag.conversation_turn AS t
        WHERE t.conversation OPERATOR(pg_catalog.=) c.id) AS kept
    WHERE s.questions[b.place:] OPERATOR(pg_catalog.=) kept.questions
      AND s.answers[b.place:] OPERATOR(pg_catalog.=) kept.answers
    ORDER BY b.place, c.created_at DESC
    LIMIT 1
)
SELECT f.id FROM found AS f
