-- $1: server, $2: model. A price of the model goes before that of all models of its server.
SELECT input::double precision, output::double precision
FROM rag.price
WHERE server = $1 AND (model = $2 OR model IS NULL)
ORDER BY model IS NULL
LIMIT 1
