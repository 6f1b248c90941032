-- $1: pipeline. Where the index of its vectors has gone with a column, it is made again as that of a new
-- pipeline is; until then vectors are compared one by one.
UPDATE rag.pipeline AS p SET stage = 'filling', fill_from = NULL
WHERE p.id OPERATOR(pg_catalog.=) $1 AND p.stage OPERATOR(pg_catalog.=) 'live'
  AND NOT EXISTS (SELECT FROM pg_catalog.pg_index AS i
                  JOIN pg_catalog.pg_attribute AS a
                    ON a.attrelid OPERATOR(pg_catalog.=) i.indrelid AND a.attname OPERATOR(pg_catalog.=) 'embedding' AND a.attnum OPERATOR(pg_catalog.=) ANY (i.indkey)
                  WHERE i.indrelid OPERATOR(pg_catalog.=) p.chunk_table)
RETURNING p.id
