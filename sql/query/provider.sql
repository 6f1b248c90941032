-- Foreign servers, prices and budgets.

-- name: usage
SELECT pg_catalog.has_server_privilege($1, 'USAGE')

-- name: price
-- $1: server, $2: model. A price of the model goes before that of all models of its server.
SELECT input::double precision, coalesce(cached, input)::double precision, output::double precision
FROM rag.price
WHERE server = $1 AND (model = $2 OR model IS NULL)
ORDER BY model IS NULL
LIMIT 1

-- name: budgets
-- $1: role. Of each period its budget, else that of all who have none of their own.
SELECT DISTINCT ON (period) period, max_tokens, max_cost::double precision
FROM rag.budget
WHERE role = $1::name OR role IS NULL
ORDER BY period, role IS NULL
