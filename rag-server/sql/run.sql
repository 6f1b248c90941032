-- Runs a query under guard. $1: the query, $2: the most rows.
SELECT r.data, r.truncated FROM rag_sql_run($1, max_rows => $2) AS r ORDER BY r.row_no
