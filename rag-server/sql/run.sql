-- Runs a query under guard. $1: the query, $2: the most rows. A row is the names of its columns and their values as texts:
-- PostgreSQL has larger numbers and deeper JSON than a program.
SELECT d.names, d.fields, r.truncated
FROM rag_sql_run($1, max_rows => $2) AS r
CROSS JOIN LATERAL (
    SELECT pg_catalog.array_agg(e.key ORDER BY e.place) AS names, pg_catalog.array_agg(e.value ORDER BY e.place) AS fields
    FROM pg_catalog.jsonb_each_text(r.data) WITH ORDINALITY AS e (key, value, place)) AS d
ORDER BY r.row_no
