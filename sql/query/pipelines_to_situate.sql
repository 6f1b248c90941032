-- $1: the only pipeline, or NULL for those that workers see to. Those whose chunks are put into their
-- connection, and a text that is another one when there may be more to do.
SELECT p.id, pg_catalog.concat_ws(' ', p.contexts::oid, p.context_llm, p.stage, a.rows_done, s.srvoptions,
                                  (SELECT pg_catalog.count(*) FROM rag.template))
FROM rag.pipeline AS p
LEFT JOIN rag.activity AS a ON a.pipeline = p.id
LEFT JOIN pg_catalog.pg_foreign_server AS s ON s.srvname = p.context_llm ->> 'llm'
WHERE p.context_llm IS NOT NULL AND NOT p.paused
  AND CASE WHEN $1 IS NULL THEN p.mode <> 'manual' ELSE $1 IN (p.id, p.replaces) END
  AND rag.is_whole(p.id, p.source, p.chunk_table, p.contexts)
ORDER BY p.id
