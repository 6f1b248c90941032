-- Rows of rag.pipeline.

-- name: find
-- $1: name, or $2: ID of a pipeline. Of one that is to replace another, the other's name. Relations
-- by their qualified names, or, of those that are gone, by their number.
SELECT p.id, p.name, p.source::pg_catalog.oid, p.content_view::pg_catalog.oid, p.chunk_table::pg_catalog.oid, p.view::pg_catalog.oid,
       coalesce(r.names[1], p.source::pg_catalog.text), coalesce(r.names[2], p.content_view::pg_catalog.text),
       coalesce(r.names[3], p.chunk_table::pg_catalog.text), coalesce(r.names[4], p.view::pg_catalog.text),
       p.key_columns, p.model, p.chunking,
       p.config, p.generation, p.refresh, p.paused, p.stage, p.replaces,
       coalesce(p.name, o.name OPERATOR(pg_catalog.||) ' (generation ' OPERATOR(pg_catalog.||) p.generation OPERATOR(pg_catalog.||) ')'),
       p.contextual, EXISTS (SELECT FROM rag.derivation AS d WHERE d.pipeline OPERATOR(pg_catalog.=) p.id AND d.kind OPERATOR(pg_catalog.=) 'context_lines'),
       EXISTS (SELECT FROM rag.shard AS s WHERE s.pipeline OPERATOR(pg_catalog.=) p.id)
FROM rag.pipeline p
LEFT JOIN rag.pipeline o ON o.id OPERATOR(pg_catalog.=) p.replaces
CROSS JOIN LATERAL (
    SELECT pg_catalog.array_agg(pg_catalog.quote_ident(n.nspname) OPERATOR(pg_catalog.||) '.' OPERATOR(pg_catalog.||) pg_catalog.quote_ident(c.relname)
                                ORDER BY u.place) AS names
    FROM pg_catalog.unnest(ARRAY[p.source, p.content_view, p.chunk_table, p.view]::pg_catalog.oid[])
         WITH ORDINALITY AS u (oid, place)
    LEFT JOIN pg_catalog.pg_class c ON c.oid OPERATOR(pg_catalog.=) u.oid
    LEFT JOIN pg_catalog.pg_namespace n ON n.oid OPERATOR(pg_catalog.=) c.relnamespace) AS r
WHERE p.name OPERATOR(pg_catalog.=) $1 OR p.id OPERATOR(pg_catalog.=) $2

-- name: names
SELECT name FROM rag.pipeline WHERE name IS NOT NULL ORDER BY name

-- name: is_owned
SELECT rag.owns_pipeline($1)

-- name: successor
SELECT id FROM rag.pipeline WHERE replaces OPERATOR(pg_catalog.=) $1

-- name: insert
INSERT INTO rag.pipeline (name, source, content_view, chunk_table, view, key_columns, model,
                          chunking, contextual, config, refresh, stage, generation, replaces)
VALUES ($1, $2::oid::regclass, $3::text::regclass, $4::text::regclass, $5::text::regclass, $6, $7,
        $8, $9, $10, $11, $12, $13, $14)
RETURNING id

-- name: hold
-- $1: pipeline. It stays until the end of the transaction, and does not become another's.
SELECT id FROM rag.pipeline WHERE id = $1 FOR KEY SHARE

-- name: hold_now
-- $1: pipeline. As in `hold`, but nothing is found where it is being dropped.
SELECT id FROM rag.pipeline WHERE id = $1 FOR KEY SHARE SKIP LOCKED

-- name: lock
-- $1: pipeline. Nobody else has it, works on it or has another take its place until the end of the transaction.
SELECT id FROM rag.pipeline WHERE id = $1 FOR UPDATE

-- name: take
-- $1: pipeline. For whoever builds its index; nobody waits for that.
SELECT id FROM rag.pipeline WHERE id = $1 FOR NO KEY UPDATE SKIP LOCKED

-- name: take_both
-- $1: pipeline, $2: the one that it replaces. For the exchange, while nobody stores anything.
SELECT id FROM rag.pipeline WHERE id IN ($1, $2) ORDER BY id FOR UPDATE SKIP LOCKED

-- name: take_name
-- $1: the successor, $2: the name, $3: who refreshes it, $4: the view.
UPDATE rag.pipeline SET name = $2, refresh = $3, view = $4::oid::regclass, stage = 'live' WHERE id = $1

-- name: filled
-- $1: the only pipeline, or NULL for all that workers see to. Those whose rows have all been seen to
-- for the first time, and those that can take another's place.
SELECT p.id FROM rag.pipeline AS p
WHERE (p.stage = 'filling' OR p.replaces IS NOT NULL)
  AND CASE WHEN $1 IS NULL THEN p.refresh <> 'manual' AND NOT p.paused ELSE p.id = $1 OR p.replaces = $1 END
  AND NOT EXISTS (SELECT FROM rag.intake AS i WHERE i.pipeline = p.id AND i.kind = 'all')
  AND NOT EXISTS (SELECT FROM rag.queue AS q
                  WHERE q.pipeline = p.id AND q.attempts = 0 AND q.queued_at <= p.fill_from)
  AND rag.is_whole(p.id, p.source, p.chunk_table)
ORDER BY p.id

-- name: fill_from
-- $1: pipeline, $2: when somebody asked for all of its rows.
UPDATE rag.pipeline SET fill_from = $2 WHERE id = $1

-- name: live
UPDATE rag.pipeline SET stage = 'live' WHERE id = $1

-- name: unnamed
-- The successor, before its predecessor goes: for a moment it has a name of its own.
UPDATE rag.pipeline SET replaces = NULL, name = ' ' || id WHERE id = $1

-- name: alter
-- $1: pipeline, $2: its name, $3: who refreshes it. Its successor embeds in the same way, but not within
-- statements.
UPDATE rag.pipeline
SET name = CASE WHEN id = $1 THEN $2 END,
    refresh = CASE WHEN id <> $1 AND $3 = 'sync' THEN 'async' ELSE $3 END
WHERE id = $1 OR replaces = $1

-- name: content_view
-- $1: pipeline, $2: the name of its content view, or NULL while it has none.
UPDATE rag.pipeline SET content_view = coalesce($2::pg_catalog.text::pg_catalog.regclass, 0::pg_catalog.oid::pg_catalog.regclass) WHERE id OPERATOR(pg_catalog.=) $1

-- name: view
-- $1: pipeline, $2: the name of its view.
UPDATE rag.pipeline SET view = $2::pg_catalog.text::pg_catalog.regclass WHERE id OPERATOR(pg_catalog.=) $1

-- name: unindexed
-- $1: pipeline. Where the index of its vectors has gone with a column, it is made again as that of a new
-- pipeline is; until then vectors are compared one by one.
UPDATE rag.pipeline AS p SET stage = 'filling', fill_from = NULL
WHERE p.id OPERATOR(pg_catalog.=) $1 AND p.stage OPERATOR(pg_catalog.=) 'live'
  AND NOT EXISTS (SELECT FROM pg_catalog.pg_index AS i
                  JOIN pg_catalog.pg_attribute AS a
                    ON a.attrelid OPERATOR(pg_catalog.=) i.indrelid AND a.attname OPERATOR(pg_catalog.=) 'embedding' AND a.attnum OPERATOR(pg_catalog.=) ANY (i.indkey)
                  WHERE i.indrelid OPERATOR(pg_catalog.=) p.chunk_table)
RETURNING p.id

-- name: pause
-- A pipeline, and the one that is to replace it.
UPDATE rag.pipeline SET paused = $2, not_before = NULL WHERE id = $1 OR replaces = $1

-- name: delete
DELETE FROM rag.pipeline WHERE id = $1

-- name: config_name
-- $1: text search configuration as the caller writes it. Its name in every session.
SELECT pg_catalog.quote_ident(n.nspname) OPERATOR(pg_catalog.||) '.' OPERATOR(pg_catalog.||) pg_catalog.quote_ident(c.cfgname)
FROM pg_catalog.pg_ts_config AS c
JOIN pg_catalog.pg_namespace AS n ON n.oid OPERATOR(pg_catalog.=) c.cfgnamespace
WHERE c.oid OPERATOR(pg_catalog.=) $1::pg_catalog.text::pg_catalog.regconfig

-- name: config_names
-- Text search configurations that need no schema before their name.
SELECT c.cfgname::pg_catalog.text FROM pg_catalog.pg_ts_config AS c
WHERE pg_catalog.pg_ts_config_is_visible(c.oid) ORDER BY c.cfgname

-- name: set_description
-- $1: pipeline, $2: description; an empty text takes it away.
UPDATE rag.pipeline SET description = nullif($2, '') WHERE id = $1 OR replaces = $1

-- name: inherit_description
-- Defaults too. $1: pipeline, $2: the one whose place it is to take.
UPDATE rag.pipeline AS p
SET description = o.description, defaults = o.defaults
FROM rag.pipeline AS o
WHERE p.id = $1 AND o.id = $2

-- name: described
-- The pipelines that the caller may see, and what is in them.
SELECT p.id, p.name,
       coalesce(p.description,
                CASE WHEN p.source::pg_catalog.oid OPERATOR(pg_catalog.<>) p.view::pg_catalog.oid THEN pg_catalog.obj_description(p.source, 'pg_class') END,
                pg_catalog.replace(p.name, '_', ' '))
FROM rag.pipeline AS p
WHERE p.name IS NOT NULL
ORDER BY p.name
