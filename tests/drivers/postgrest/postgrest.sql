CREATE TABLE page (id integer PRIMARY KEY, tenant text NOT NULL, title text NOT NULL, body text NOT NULL);
INSERT INTO page VALUES
    (1, 'acme', 'Passwords', 'To reset a password, choose "Forgot password" on the sign-in page.'),
    (2, 'acme', 'Lost access', 'Who has lost a password asks for a new one by mail.'),
    (3, 'acme', 'Invoices', 'Invoices are sent monthly. A refund takes five working days.'),
    (4, 'globex', 'Passwords', 'Passwords of Globex are reset by the help desk in room 7.');

-- region roles
-- PostgREST connects as authenticator, and becomes the role that the token names.
CREATE ROLE authenticator LOGIN NOINHERIT;
CREATE ROLE customer NOLOGIN;
CREATE ROLE web_anon NOLOGIN;
GRANT customer, web_anon TO authenticator;
-- endregion

-- region rows
-- Which rows a customer sees is said by the token. Chunks are seen as far as their rows are.
ALTER TABLE page ENABLE ROW LEVEL SECURITY;
CREATE POLICY of_tenant ON page FOR SELECT TO customer
    USING (tenant = nullif(current_setting('request.jwt.claims', true), '')::jsonb ->> 'tenant');
GRANT SELECT ON page TO customer;
SELECT rag_create_pipeline('page', 'body', metadata => ARRAY['title'], refresh => 'sync');
-- endregion

-- region schema
CREATE SCHEMA api;
GRANT USAGE ON SCHEMA api TO customer, web_anon;

-- STABLE, so that GET can call it, too.
CREATE FUNCTION api.search(question text, k integer DEFAULT 5, first integer DEFAULT 0)
RETURNS TABLE (rank integer, page_id integer, title text, content text, score double precision)
STABLE LANGUAGE sql AS $$
    SELECT f.rank, f.source_key::integer, f.metadata ->> 'title', f.content, f.score
    FROM public.rag_retrieve(search.question, 'page', k => least(search.k, 20),
                             options => jsonb_build_object('retrieve', jsonb_build_object('offset', search.first, 'candidates', 200))) AS f
    ORDER BY f.rank
$$;

CREATE FUNCTION api.more_like(page_id integer, k integer DEFAULT 5)
RETURNS TABLE (rank integer, id integer, title text)
STABLE LANGUAGE sql AS $$
    -- Of a page that the caller may not see, the average is NULL.
    SELECT f.rank, f.source_key::integer, f.metadata ->> 'title'
    FROM (SELECT public.avg(c.embedding) AS page FROM public.page_rag AS c WHERE c.source_id = more_like.page_id) AS v,
         LATERAL public.rag_retrieve(NULL, 'page', k => least(more_like.k, 20), query_vector => v.page,
                                     filter => jsonb_build_object('id', jsonb_build_object('ne', more_like.page_id))) AS f
    WHERE v.page IS NOT NULL
    ORDER BY f.rank
$$;

CREATE FUNCTION api.ask(question text)
RETURNS jsonb
VOLATILE LANGUAGE sql AS $$
    SELECT jsonb_build_object('answer', d.answer, 'supported', d.supported, 'confidence', d.confidence,
                              'citations', d.citations)
    FROM public.rag_answer_details(ask.question, 'page') AS d
$$;

REVOKE EXECUTE ON ALL FUNCTIONS IN SCHEMA api FROM PUBLIC;
GRANT EXECUTE ON ALL FUNCTIONS IN SCHEMA api TO customer;
-- endregion

-- What PostgREST makes of a request: a role and claims for the transaction, and a call with named arguments out of JSON.
SET SESSION AUTHORIZATION authenticator;
BEGIN;
SET LOCAL ROLE customer;
SELECT set_config('request.jwt.claims', '{"role": "customer", "tenant": "acme"}', true);
SELECT set_config('search_path', '"api", "public"', true);
CREATE TEMPORARY TABLE replies (name text, reply json);
INSERT INTO replies
SELECT 'search', coalesce(json_agg(c), '[]')
FROM json_to_record('{"question": "forgotten password", "k": 2}') AS b ("question" text, "k" integer),
     LATERAL "api"."search"("question" := b."question", "k" := b."k") AS c;
INSERT INTO replies
SELECT 'second page', coalesce(json_agg(c), '[]')
FROM json_to_record('{"question": "forgotten password", "k": 2, "first": 2}') AS b ("question" text, "k" integer, "first" integer),
     LATERAL "api"."search"("question" := b."question", "k" := b."k", "first" := b."first") AS c;
INSERT INTO replies
SELECT 'more_like', coalesce(json_agg(c), '[]')
FROM json_to_record('{"page_id": 1, "k": 1}') AS b ("page_id" integer, "k" integer),
     LATERAL "api"."more_like"("page_id" := b."page_id", "k" := b."k") AS c;
INSERT INTO replies
SELECT 'more like what is not seen', coalesce(json_agg(c), '[]')
FROM json_to_record('{"page_id": 4}') AS b ("page_id" integer),
     LATERAL "api"."more_like"("page_id" := b."page_id") AS c;
INSERT INTO replies
SELECT 'too many', coalesce(json_agg(c), '[]')
FROM json_to_record('{"question": "forgotten password", "k": 100000}') AS b ("question" text, "k" integer),
     LATERAL "api"."search"("question" := b."question", "k" := b."k") AS c;
INSERT INTO replies
SELECT 'ask', to_json(c)
FROM json_to_record('{"question": "How long does a refund take?"}') AS b ("question" text),
     LATERAL "api"."ask"("question" := b."question") AS c;
DO $$
DECLARE
    reply json;
BEGIN
    SELECT r.reply INTO reply FROM replies AS r WHERE name = 'search';
    ASSERT json_array_length(reply) = 2, reply;
    ASSERT (SELECT bool_and((it ->> 'page_id')::integer IN (1, 2)) FROM json_array_elements(reply) AS it), reply;
    SELECT r.reply INTO reply FROM replies AS r WHERE name = 'second page';
    ASSERT json_array_length(reply) = 1 AND reply -> 0 ->> 'rank' = '3' AND reply -> 0 ->> 'page_id' = '3', reply;
    SELECT r.reply INTO reply FROM replies AS r WHERE name = 'more_like';
    ASSERT reply -> 0 ->> 'id' = '2', reply;
    SELECT r.reply INTO reply FROM replies AS r WHERE name = 'more like what is not seen';
    ASSERT json_array_length(reply) = 0, reply;
    SELECT r.reply INTO reply FROM replies AS r WHERE name = 'too many';
    ASSERT json_array_length(reply) = 3, reply;
    SELECT r.reply INTO reply FROM replies AS r WHERE name = 'ask';
    ASSERT reply ->> 'answer' ~ 'five working days' AND reply ->> 'supported' = 'true', reply;
END $$;
ROLLBACK;

-- Another tenant's token shows other rows, and none shows nothing.
BEGIN READ ONLY;
SET LOCAL ROLE customer;
SELECT set_config('request.jwt.claims', '{"role": "customer", "tenant": "globex"}', true);
DO $$
BEGIN
    ASSERT (SELECT array_agg(page_id) FROM api.search('forgotten password', first => 0)) = ARRAY[4], 'another tenant';
END $$;
SELECT set_config('request.jwt.claims', '', true);
DO $$
BEGIN
    ASSERT (SELECT count(*) FROM api.search('forgotten password')) = 0, 'no token';
END $$;
ROLLBACK;
-- Who is not signed in may call nothing.
BEGIN;
SET LOCAL ROLE web_anon;
DO $$
BEGIN
    PERFORM api.search('password');
    RAISE 'anonymous';
EXCEPTION WHEN insufficient_privilege THEN NULL;
END $$;
ROLLBACK;
RESET SESSION AUTHORIZATION;
DROP SCHEMA api CASCADE;
SELECT rag_drop_pipeline('page');
DROP TABLE page;
DROP OWNED BY authenticator, customer, web_anon;
DROP ROLE authenticator, customer, web_anon;
