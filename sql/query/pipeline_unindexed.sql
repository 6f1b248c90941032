-- $1: pipeline. Where the index of its vectors has gone with a column, it is made again as that of a new
-- pipeline is; until then vectors are compared one by one.
UPDATE rag.pipeline AS p SET stage = 'filling', fill_from = NULL
WHERE p.id = $1 AND p.stage = 'live'
  AND NOT EXISTS (SELECT FROM pg_catalog.pg_index AS i
                  JOIN pg_catalog.pg_attribute AS a
                    ON a.attrelid = i.indrelid AND a.attname = 'embedding' AND a.attnum = ANY (i.indkey)
                  WHERE i.indrelid = p.chunk_table)
RETURNING p.id
