-- The statement that reads the chunks of one row of a pipeline, as text: its relations and key columns are the
-- pipeline's. $1: the pipeline. The key has the form of source_key: a text, or an object where it has several columns.
-- Values are cast to the types of the columns, so that an index on these is of use.
SELECT pg_catalog.format(
    'SELECT v.chunk_no, v.start_char, v.end_char, v.heading, v.content FROM %s AS v WHERE %s ORDER BY v.chunk_no',
    p.view,
    CASE WHEN p.key_columns = 1
         THEN pg_catalog.string_agg(pg_catalog.format('v.%I = $1::pg_catalog.text::%s', a.attname, pg_catalog.format_type(a.atttypid, -1)), '')
         ELSE pg_catalog.string_agg(pg_catalog.format(
                  'v.%I = ($1::pg_catalog.text::pg_catalog.jsonb ->> %L)::%s', a.attname,
                  pg_catalog.substr(a.attname::pg_catalog.text, pg_catalog.length('source_') + 1),
                  pg_catalog.format_type(a.atttypid, -1)), ' AND ' ORDER BY a.attnum)
    END)
FROM rag.pipeline AS p
JOIN pg_catalog.pg_attribute AS a ON a.attrelid = p.view AND NOT a.attisdropped AND a.attnum BETWEEN 2 AND 1 + p.key_columns
WHERE p.name = $1
GROUP BY p.id, p.view, p.key_columns
