-- $1: role. Of each period its budget, else that of all who have none of their own.
SELECT DISTINCT ON (period) period, max_tokens, max_cost::double precision
FROM rag.budget
WHERE role = $1::name OR role IS NULL
ORDER BY period, role IS NULL
