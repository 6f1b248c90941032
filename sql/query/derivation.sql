-- What is made of chunks.

-- name: find
-- $1: pipeline, $2: kind, or NULL for all. How it is made, and where it is kept.
SELECT d.kind, d.options, c.oid, pg_catalog.quote_ident(n.nspname) OPERATOR(pg_catalog.||) '.' OPERATOR(pg_catalog.||) pg_catalog.quote_ident(c.relname)
FROM rag.derivation AS d
JOIN pg_catalog.pg_class AS c ON c.oid OPERATOR(pg_catalog.=) d.relation
JOIN pg_catalog.pg_namespace AS n ON n.oid OPERATOR(pg_catalog.=) c.relnamespace
WHERE d.pipeline OPERATOR(pg_catalog.=) $1 AND ($2::pg_catalog.text IS NULL OR d.kind OPERATOR(pg_catalog.=) $2)

-- name: set
-- $1: pipeline, $2: kind, $3: how it is made, $4: the name of the table where it is kept.
INSERT INTO rag.derivation (pipeline, kind, options, relation) VALUES ($1, $2, $3, $4::text::regclass)
ON CONFLICT (pipeline, kind) DO UPDATE SET (options, relation, missing) = ROW(EXCLUDED.options, EXCLUDED.relation, NULL)

-- name: remove
-- $1: pipeline, $2: kind.
DELETE FROM rag.derivation WHERE pipeline = $1 AND kind = $2

-- name: due
-- $1: the only pipeline, or NULL for those that workers see to. Pipeline, kind, and a text that is another
-- one when there may be more to do. Mentions, and relations that columns say, are made with their chunks; and a
-- successor waits until it has what was extracted for the pipeline whose place it takes.
SELECT d.pipeline, d.kind,
       pg_catalog.concat_ws(' ', d.relation::oid, d.options, d.missing IS NULL, p.stage, a.rows_done, s.srvoptions,
                            (SELECT pg_catalog.count(*) FROM rag.template))
FROM rag.derivation AS d
JOIN rag.pipeline AS p ON p.id = d.pipeline
LEFT JOIN rag.activity AS a ON a.pipeline = p.id
LEFT JOIN pg_catalog.pg_foreign_server AS s ON s.srvname = d.options ->> 'llm'
WHERE d.kind NOT IN ('mentions', 'relations') AND NOT p.paused
  AND (d.kind <> 'extracted_relations' OR p.replaces IS NULL)
  AND CASE WHEN $1 IS NULL THEN p.refresh <> 'manual' ELSE $1 IN (p.id, p.replaces) END
  AND rag.is_whole(p.id, p.source, p.chunk_table, d.relation)

-- name: unfinished
-- $1: pipeline. Kinds of which something is still to be made.
SELECT d.kind
FROM rag.derivation AS d
WHERE d.pipeline = $1 AND d.kind NOT IN ('mentions', 'relations')
  AND (d.missing IS NULL OR d.missing > 0
       OR d.kind = 'tree' AND EXISTS (SELECT FROM rag.tree_change AS c WHERE c.pipeline = d.pipeline))
ORDER BY d.kind

-- name: note_progress
-- $1: pipeline, $2: kind, $3: items done, $4: those of them of which nothing came, $5: those about which no reply could be read,
-- $6: what was said and is not kept.
UPDATE rag.derivation
SET done = done + $3, empty = empty + $4, unreadable = unreadable + $5, dropped = dropped + $6, missing = greatest(missing - $3, 0), last_done_at = pg_catalog.clock_timestamp()
WHERE pipeline = $1 AND kind = $2

-- name: ask_again
-- $1: pipeline, $2: kind, $3: how many items, about which no reply could be read, are to be asked about again. No others are
-- known.
UPDATE rag.derivation
SET done = greatest(done - $3, 0), unreadable = 0, missing = CASE WHEN $3 > 0 THEN NULL ELSE missing END
WHERE pipeline = $1 AND kind = $2 AND (unreadable > 0 OR $3 > 0)

-- name: set_missing
-- $1: pipeline, $2: kind, $3: items that are still missing.
UPDATE rag.derivation SET missing = $3 WHERE pipeline = $1 AND kind = $2 AND missing IS DISTINCT FROM $3

-- name: state
-- $1: pipeline, $2: kind. What is remembered of what was made.
SELECT state FROM rag.derivation WHERE pipeline = $1 AND kind = $2

-- name: set_state
-- $1: pipeline, $2: kind, $3: what is remembered of what was made.
UPDATE rag.derivation SET state = $3 WHERE pipeline = $1 AND kind = $2

-- name: forget_state
-- $1: pipeline, $2: kind. Nothing is remembered of what was made any more.
UPDATE rag.derivation SET state = NULL
WHERE pipeline OPERATOR(pg_catalog.=) $1 AND kind OPERATOR(pg_catalog.=) $2

-- name: missing_texts
-- Texts of chunks of which nothing has been made in this template. $1: the template, $2: the hash of the last text that is
-- known to have something, $3: how many, $4: the source. Whoever sees a chunk with the text sees what was made of it, and may not
-- see another one's headings: where rows have policies, only those are told that the hash is of, too.
SELECT DISTINCT ON (c.content_hash) c.content_hash, c.content,
       CASE WHEN (SELECT s.relrowsecurity FROM pg_catalog.pg_class AS s WHERE s.oid = $4) THEN c.context ELSE c.heading END
FROM {chunk_table} AS c
WHERE c.content_hash > $2
  AND NOT EXISTS (SELECT FROM {derived} AS r WHERE r.content_hash = c.content_hash AND r.template = $1)
ORDER BY c.content_hash
LIMIT $3

-- name: count_missing_texts
-- How many texts there are as in `missing_texts`. $1: the template, $2: how many are counted at most.
SELECT pg_catalog.count(*)
FROM (SELECT DISTINCT c.content_hash
      FROM {chunk_table} AS c
      WHERE NOT EXISTS (SELECT FROM {derived} AS r WHERE r.content_hash = c.content_hash AND r.template = $1)
      LIMIT $2) AS missing

-- name: forget_texts
-- $1: hashes of texts.
DELETE FROM {derived} WHERE content_hash = ANY ($1)

-- name: forget_gone_texts
-- What was made of texts that no chunk has any more.
DELETE FROM {derived} AS r
WHERE NOT EXISTS (SELECT FROM {chunk_table} AS c WHERE c.content_hash = r.content_hash)

-- name: create_policy
-- Who may see what was made of chunks: a role that sees all of them, its leaves. A leaf that is hidden from
-- the role, or gone, hides what was made of it.
CREATE POLICY rag_source_visible ON {table} FOR SELECT
    USING (NOT EXISTS (SELECT FROM pg_catalog.unnest({leaves}) AS leaf (key)
                       WHERE NOT EXISTS (SELECT FROM {chunk_table} AS c WHERE c.{leaf_key} OPERATOR(pg_catalog.=) leaf.key)))

-- name: has_hash_index
-- $1: a chunk table. A row if it has an index by which each of its texts is found by its hash.
SELECT 1
FROM pg_catalog.pg_index AS i
JOIN pg_catalog.pg_class AS c ON c.oid OPERATOR(pg_catalog.=) i.indexrelid
JOIN pg_catalog.pg_am AS m ON m.oid OPERATOR(pg_catalog.=) c.relam
JOIN pg_catalog.pg_attribute AS a ON a.attrelid OPERATOR(pg_catalog.=) i.indrelid AND a.attnum OPERATOR(pg_catalog.=) i.indkey[0]
WHERE i.indrelid OPERATOR(pg_catalog.=) $1 AND a.attname OPERATOR(pg_catalog.=) 'content_hash'
  AND i.indisvalid AND i.indpred IS NULL AND m.amname OPERATOR(pg_catalog.=) ANY (ARRAY['btree', 'hash'])

-- name: create_hash_index
CREATE INDEX {name} ON {chunk_table} (content_hash)
