-- The names that most chunks of the manual have, and the strongest ties between them, as one line of JSON. Words that are
-- all capitals are left out, since most are of SQL, and so are those that only begin headings and rows of tables.

WITH named AS (
    SELECT m.norm, m.chunk_id, substr(c.content, m.start_char + 1, m.end_char - m.start_char) AS written,
           substr(c.content, 1, m.start_char) ~ '(^|\n[#*|]?|[.:|] *|# )$' AS is_begun
    FROM manual_rag_chunks_mentions AS m
    JOIN manual_rag_chunks AS c USING (chunk_id)
    WHERE m.start_char IS NOT NULL
), entity AS (
    SELECT n.norm, mode() WITHIN GROUP (ORDER BY n.written) AS name, count(*) AS chunks, min(g.community) AS community
    FROM named AS n
    LEFT JOIN manual_rag_chunks_communities AS g ON g.norm = n.norm AND g.level = 0
    WHERE g.community IS NOT NULL AND n.written ~ '^[[:alpha:]]' AND length(n.written) > 2
      AND (n.written ~ '[[:lower:]]' OR n.written ~ '[0-9]')
    GROUP BY n.norm
    HAVING mode() WITHIN GROUP (ORDER BY n.written) !~ '^[[:upper:]][[:lower:]]+$'
        OR count(*) > 2 * count(*) FILTER (WHERE n.is_begun)
    ORDER BY chunks DESC, n.norm
    LIMIT 28
), tie AS (
    SELECT a.name AS one, b.name AS other, count(*) AS chunks,
           row_number() OVER (PARTITION BY a.name ORDER BY count(*) DESC, b.name) AS rank
    FROM entity AS a
    JOIN named AS x ON x.norm = a.norm
    JOIN named AS y ON y.chunk_id = x.chunk_id
    JOIN entity AS b ON b.norm = y.norm
    WHERE a.norm <> b.norm
    GROUP BY a.name, b.name
)
SELECT json_build_object(
    'entities', (SELECT json_agg(json_build_object('name', e.name, 'chunks', e.chunks, 'community', e.community)
                                 ORDER BY e.community, e.chunks DESC, e.name)
                 FROM entity AS e WHERE e.name IN (SELECT t.one FROM tie AS t)),
    'ties', (SELECT json_agg(json_build_object('one', t.one, 'other', t.other, 'chunks', t.chunks) ORDER BY t.one, t.other)
             -- The strongest three of each entity.
             FROM (SELECT DISTINCT least(t.one, t.other) AS one, greatest(t.one, t.other) AS other, t.chunks
                   FROM tie AS t WHERE t.rank <= 3) AS t));
