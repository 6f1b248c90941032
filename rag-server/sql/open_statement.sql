-- The statement that reads the chunks of one row of a pipeline, as text: its relations and key columns are the
-- pipeline's. $1: the pipeline. The key has the form of source_key: a text, or an object where it has several columns.
-- Values are cast to the types of the columns, and to what a domain is made of, which cuts nothing off. They are compared as
-- in an index, so that one is of use: by the operator of the default class for the type, which a superuser has made, or by
-- that of pg_catalog.
--
-- $2 of the statement: chunks that end before this character are left out. $3: chunks come until they have so many bytes
-- together. The last column says whether a chunk is the last of the document.
SELECT pg_catalog.format(
    'SELECT c.chunk_no, c.start_char, c.end_char, c.heading, c.content, c.is_last
     FROM (SELECT v.chunk_no, v.start_char, v.end_char, v.heading, v.content,
                  pg_catalog.lead(v.chunk_no) OVER w IS NULL AS is_last,
                  pg_catalog.sum(pg_catalog.octet_length(v.content)) OVER w OPERATOR(pg_catalog.-) pg_catalog.octet_length(v.content) AS before
           FROM %s AS v WHERE %s AND v.end_char OPERATOR(pg_catalog.>) $2
           WINDOW w AS (ORDER BY v.chunk_no ROWS UNBOUNDED PRECEDING)) AS c
     WHERE c.before OPERATOR(pg_catalog.<) $3
     ORDER BY c.chunk_no',
    p.view,
    pg_catalog.string_agg(
        pg_catalog.format(
            CASE WHEN p.key_columns OPERATOR(pg_catalog.=) 1 THEN 'v.%1$I %3$s $1::pg_catalog.text::%4$s'
                 ELSE 'v.%1$I %3$s ($1::pg_catalog.text::pg_catalog.jsonb OPERATOR(pg_catalog.->>) %2$L::pg_catalog.text)::%4$s' END,
            a.attname, pg_catalog.substr(a.attname::pg_catalog.text, pg_catalog.length('source_') OPERATOR(pg_catalog.+) 1),
            COALESCE(equal.operator, 'OPERATOR(pg_catalog.=)'), pg_catalog.format_type(base.oid, '-1')),
        ' AND ' ORDER BY a.attnum))
FROM rag.pipeline AS p
JOIN pg_catalog.pg_attribute AS a
  ON a.attrelid OPERATOR(pg_catalog.=) p.view::pg_catalog.oid AND NOT a.attisdropped
 AND a.attnum OPERATOR(pg_catalog.>) 1::pg_catalog.int2 AND a.attnum OPERATOR(pg_catalog.<=) (1 OPERATOR(pg_catalog.+) p.key_columns)
CROSS JOIN LATERAL (
    WITH RECURSIVE kind AS (
        SELECT t.oid, t.typbasetype FROM pg_catalog.pg_type AS t WHERE t.oid OPERATOR(pg_catalog.=) a.atttypid
        UNION ALL
        SELECT t.oid, t.typbasetype FROM kind AS k JOIN pg_catalog.pg_type AS t ON t.oid OPERATOR(pg_catalog.=) k.typbasetype)
    SELECT k.oid FROM kind AS k WHERE k.typbasetype OPERATOR(pg_catalog.=) 0::pg_catalog.oid) AS base
LEFT JOIN LATERAL (
    SELECT pg_catalog.format('OPERATOR(%I.%s)', n.nspname, o.oprname) AS operator
    FROM pg_catalog.pg_opclass AS c
    JOIN pg_catalog.pg_am AS m ON m.oid OPERATOR(pg_catalog.=) c.opcmethod AND m.amname OPERATOR(pg_catalog.=) 'btree'
    JOIN pg_catalog.pg_amop AS x
      ON x.amopfamily OPERATOR(pg_catalog.=) c.opcfamily AND x.amopstrategy OPERATOR(pg_catalog.=) 3::pg_catalog.int2
     AND x.amoplefttype OPERATOR(pg_catalog.=) base.oid AND x.amoprighttype OPERATOR(pg_catalog.=) base.oid
    JOIN pg_catalog.pg_operator AS o ON o.oid OPERATOR(pg_catalog.=) x.amopopr
    JOIN pg_catalog.pg_namespace AS n ON n.oid OPERATOR(pg_catalog.=) o.oprnamespace
    WHERE c.opcintype OPERATOR(pg_catalog.=) base.oid AND c.opcdefault) AS equal ON true
WHERE p.name OPERATOR(pg_catalog.=) $1
GROUP BY p.id, p.view
