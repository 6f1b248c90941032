-- Money: what providers cost, and how much a role may spend.

CREATE TABLE rag.price (
    server text NOT NULL CHECK (server <> ''),
    model  text CHECK (model <> ''),
    input  numeric NOT NULL CHECK (input >= 0::numeric AND input < 'Infinity'),
    output numeric NOT NULL DEFAULT 0 CHECK (output >= 0::numeric AND output < 'Infinity'),
    cached numeric CHECK (cached >= 0::numeric AND cached < 'Infinity'),
    UNIQUE NULLS NOT DISTINCT (server, model)
);
COMMENT ON TABLE rag.price IS 'what a million tokens cost, in any currency';
COMMENT ON COLUMN rag.price.server IS 'name of the foreign server';
COMMENT ON COLUMN rag.price.model IS 'name of the model; NULL: all models of the server that have no price of their own';
COMMENT ON COLUMN rag.price.input IS 'price of a million tokens that the model reads, from 0';
COMMENT ON COLUMN rag.price.output IS 'price of a million tokens that it writes, from 0';
COMMENT ON COLUMN rag.price.cached IS 'price of a million tokens that it reads from the provider''s cache of prompts, from 0; NULL: that of any that it reads';

-- Roles are kept by name, so that a dump can be restored where one of them is missing.
CREATE TABLE rag.budget (
    role       name,
    period     text NOT NULL DEFAULT 'month' CHECK (period IN ('day', 'month')),
    max_tokens bigint CHECK (max_tokens >= 0),
    max_cost   numeric CHECK (max_cost >= 0::numeric AND max_cost < 'Infinity'),
    UNIQUE NULLS NOT DISTINCT (role, period),
    CHECK (max_tokens IS NOT NULL OR max_cost IS NOT NULL)
);
COMMENT ON TABLE rag.budget IS 'how much a role may spend on calls of providers, in this database and in a day or month of UTC';
COMMENT ON COLUMN rag.budget.role IS 'name of the role; NULL: each role that has none of its own for this period';
COMMENT ON COLUMN rag.budget.period IS 'day or month';
COMMENT ON COLUMN rag.budget.max_tokens IS 'most tokens that models read and write in the period; NULL: any number';
COMMENT ON COLUMN rag.budget.max_cost IS 'most that they cost in the period, by the prices of rag.price; NULL: any sum';

ALTER TABLE rag.budget ENABLE ROW LEVEL SECURITY;
CREATE POLICY own ON rag.budget FOR SELECT USING (role IS NULL OR rag.acts_for(role));
CREATE POLICY administrators ON rag.budget
    USING (pg_catalog.has_table_privilege('rag.budget', 'UPDATE'))
    WITH CHECK (pg_catalog.has_table_privilege('rag.budget', 'UPDATE'));
GRANT SELECT ON rag.price, rag.budget TO PUBLIC;
SELECT pg_catalog.pg_extension_config_dump('rag.price', '');
SELECT pg_catalog.pg_extension_config_dump('rag.budget', '');

CREATE FUNCTION rag.spent() RETURNS TABLE (
    day        integer,
    role       oid,
    pipeline   integer,
    server     text,
    model      text,
    calls      bigint,
    tokens_in  bigint,
    tokens_out bigint,
    cost       numeric,
    unpriced_calls bigint,
    failed_calls   bigint,
    tokens_cached  bigint
)
VOLATILE PARALLEL RESTRICTED ROWS 100
LANGUAGE c AS 'MODULE_PATHNAME', 'rag_spent_wrapper';
COMMENT ON FUNCTION rag.spent IS 'by days since 1970-01-01, what roles whose rights the caller has have spent on providers in this database';

CREATE VIEW rag.stat_usage WITH (security_invoker = true) AS
SELECT date '1970-01-01' + s.day AS day, pg_catalog.pg_get_userbyid(s.role) AS role, p.name AS pipeline, s.server, s.model,
       s.calls, s.tokens_in, s.tokens_out, s.cost, s.unpriced_calls, s.failed_calls, s.tokens_cached
FROM rag.spent() AS s
LEFT JOIN rag.pipeline AS p ON p.id = s.pipeline
ORDER BY 1, 2, 3, s.server, s.model;
COMMENT ON VIEW rag.stat_usage IS 'calls of providers, their tokens and cost by day, role, pipeline and model, of roles whose rights the caller has';
COMMENT ON COLUMN rag.stat_usage.day IS 'day of UTC';
COMMENT ON COLUMN rag.stat_usage.role IS 'name of the role that called; of calls by workers, the owner of the source';
COMMENT ON COLUMN rag.stat_usage.pipeline IS 'name of the pipeline; NULL outside of pipelines, and for one that is gone, not in place yet, or not for the caller to see';
COMMENT ON COLUMN rag.stat_usage.server IS 'name of the foreign server';
COMMENT ON COLUMN rag.stat_usage.model IS 'what the provider calls the model';
COMMENT ON COLUMN rag.stat_usage.calls IS 'calls of the provider that were answered or may have been, repeated ones included';
COMMENT ON COLUMN rag.stat_usage.tokens_in IS 'tokens that the model has read';
COMMENT ON COLUMN rag.stat_usage.tokens_out IS 'tokens that it has written';
COMMENT ON COLUMN rag.stat_usage.cost IS 'what they cost, by the prices of rag.price at that time; without unpriced_calls, and NULL where no call had a price';
COMMENT ON COLUMN rag.stat_usage.unpriced_calls IS 'how many of the calls had no price in rag.price';
COMMENT ON COLUMN rag.stat_usage.failed_calls IS 'calls that ended with an error, such as one of a provider that could not be reached';
COMMENT ON COLUMN rag.stat_usage.tokens_cached IS 'tokens among those read that were in the provider''s cache of prompts';

CREATE VIEW rag.stat_budget WITH (security_invoker = true) AS
SELECT r.role, b.period, b.max_tokens, u.tokens AS used_tokens, b.max_cost, u.cost AS used_cost
FROM rag.budget AS b
CROSS JOIN LATERAL (SELECT coalesce(b.role, CURRENT_USER) AS role) AS r
CROSS JOIN LATERAL (
    SELECT coalesce(pg_catalog.sum(s.tokens_in + s.tokens_out), 0) AS tokens, coalesce(pg_catalog.sum(s.cost), 0) AS cost
    FROM rag.spent() AS s
    WHERE pg_catalog.pg_get_userbyid(s.role) = r.role
      AND date '1970-01-01' + s.day >= pg_catalog.date_trunc(b.period, pg_catalog.now() AT TIME ZONE 'UTC')::date) AS u
WHERE b.role IS NOT NULL
   OR NOT EXISTS (SELECT FROM rag.budget AS o WHERE o.role = CURRENT_USER AND o.period = b.period)
ORDER BY 1, 2;
COMMENT ON VIEW rag.stat_budget IS 'budgets and what is used of them';
COMMENT ON COLUMN rag.stat_budget.role IS 'name of the role; the caller, of a budget for each role';
COMMENT ON COLUMN rag.stat_budget.period IS 'day or month, of UTC';
COMMENT ON COLUMN rag.stat_budget.max_tokens IS 'most tokens that models read and write in the period; NULL: any number';
COMMENT ON COLUMN rag.stat_budget.used_tokens IS 'tokens read and written in the current period, as far as the caller may see them';
COMMENT ON COLUMN rag.stat_budget.max_cost IS 'most that they cost in the period, by the prices of rag.price; NULL: any sum';
COMMENT ON COLUMN rag.stat_budget.used_cost IS 'what was spent in the current period, as far as the caller may see it';

GRANT SELECT ON rag.stat_usage, rag.stat_budget TO PUBLIC;
