-- The statement that reads the chunks of one row of a pipeline, as text: its relations and key columns are the
-- pipeline's. $1: the pipeline. The key has the form of source_key: a text, or an object where it has several columns.
-- Values are cast to the types of the columns, so that an index on these is of use.
--
-- $2 of the statement: chunks that end before this character are left out. $3: chunks come until they have so many bytes
-- together. The last column says whether a chunk is the last of the document.
SELECT pg_catalog.format(
    'SELECT c.chunk_no, c.start_char, c.end_char, c.heading, c.content, c.is_last
     FROM (SELECT v.chunk_no, v.start_char, v.end_char, v.heading, v.content,
                  pg_catalog.lead(v.chunk_no) OVER w IS NULL AS is_last,
                  pg_catalog.sum(pg_catalog.octet_length(v.content)) OVER w - pg_catalog.octet_length(v.content) AS before
           FROM %s AS v WHERE %s AND v.end_char > $2
           WINDOW w AS (ORDER BY v.chunk_no ROWS UNBOUNDED PRECEDING)) AS c
     WHERE c.before < $3
     ORDER BY c.chunk_no',
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
