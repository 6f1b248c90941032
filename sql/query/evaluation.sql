-- Judged questions, and what was measured of them.

-- name: set_names
SELECT name FROM rag.eval_set ORDER BY name

-- name: set_find
-- $1: name of an evaluation set; a row if the caller may see it.
SELECT name FROM rag.eval_set WHERE name OPERATOR(pg_catalog.=) $1

-- name: set_insert
-- $1: name of a new evaluation set, $2: its owner; no row where another role has one of that name.
INSERT INTO rag.eval_set (name, owner) VALUES ($1, $2::pg_catalog.name) ON CONFLICT DO NOTHING RETURNING name

-- name: set_hold
-- $1: name of an evaluation set, which stays until the end of the transaction.
SELECT name FROM rag.eval_set WHERE name OPERATOR(pg_catalog.=) $1 FOR KEY SHARE

-- name: set_lock
-- $1: name of an evaluation set, of which nobody else replaces the floors until the end of the transaction.
SELECT name FROM rag.eval_set WHERE name OPERATOR(pg_catalog.=) $1 FOR NO KEY UPDATE

-- name: set_give
-- $1: evaluation set, $2: its new owner.
UPDATE rag.eval_set SET owner = $2::pg_catalog.name WHERE name OPERATOR(pg_catalog.=) $1

-- name: set_delete
-- $1: evaluation set; the number of its cases, which go with it.
WITH gone AS (DELETE FROM rag.eval_set WHERE name OPERATOR(pg_catalog.=) $1 RETURNING name)
SELECT pg_catalog.count(c.id) FROM gone LEFT JOIN rag.eval_case AS c ON c.eval_set OPERATOR(pg_catalog.=) gone.name

-- name: cases
-- $1: name of an evaluation set.
SELECT id, question, answers, relevant, filter FROM rag.eval_case WHERE eval_set OPERATOR(pg_catalog.=) $1 ORDER BY id

-- name: answered_cases
-- Questions of an evaluation set with the first answer that is expected. $1: its name, $2: the caller, which trusts the
-- owner of the set, $3: how many.
SELECT c.question, c.answers[1]
FROM rag.eval_set AS s
JOIN rag.eval_case AS c ON c.eval_set OPERATOR(pg_catalog.=) s.name
WHERE rag.trusts($2, s.owner_id) AND c.eval_set OPERATOR(pg_catalog.=) $1 AND c.answers[1] OPERATOR(pg_catalog.<>) ''::pg_catalog.text
ORDER BY c.id
LIMIT $3

-- name: cases_replace
-- $1: name of an evaluation set, $2: cases as JSON objects, whose labels are all different.
INSERT INTO rag.eval_case (eval_set, label, question, answers, relevant, filter)
SELECT $1, r.label, r.question, r.answers, r.relevant, r.filter
FROM pg_catalog.jsonb_to_recordset($2)
     AS r (label text, question text, answers text[], relevant jsonb, filter jsonb)
ON CONFLICT (eval_set, label) DO UPDATE
SET question = excluded.question, answers = excluded.answers,
    relevant = excluded.relevant, filter = excluded.filter

-- name: case_delete
-- $1: evaluation set, $2: label.
DELETE FROM rag.eval_case WHERE eval_set OPERATOR(pg_catalog.=) $1 AND label OPERATOR(pg_catalog.=) $2

-- name: run_insert
-- $1: evaluation set, $2: the role that called, $3: number of cases, $4: the k, $5: configurations as
-- JSON text, $6: options, $7: version of pg_rag, $8: seconds since the beginning.
INSERT INTO rag.eval_run (eval_set, owner, cases, k, configurations, options, version, started_at, finished_at)
SELECT s.name, $2::name, $3, $4, $5::json, $6, $7,
        pg_catalog.clock_timestamp() - pg_catalog.make_interval(secs => $8), pg_catalog.clock_timestamp()
FROM rag.eval_set AS s WHERE s.name = $1 FOR KEY SHARE
RETURNING id

-- name: metrics_insert
-- $1: run, $2: figures as JSON objects in their order.
INSERT INTO rag.eval_metric (run, configuration, pipeline, place, metric, k, value, ci_low, ci_high, n, difference, p_value)
SELECT $1, r.configuration, r.pipeline, r.place, r.metric, r.k, r.value, r.ci_low, r.ci_high, r.n, r.difference, r.p_value
FROM pg_catalog.jsonb_to_recordset($2)
     AS r (configuration text, pipeline text, place integer, metric text, k integer, value float8,
           ci_low float8, ci_high float8, n integer, difference float8, p_value float8)

-- name: results_insert
-- $1: run, $2: what was found for cases, as JSON objects. Cases that have been deleted meanwhile are
-- left out.
INSERT INTO rag.eval_result (run, configuration, case_id, pipeline, latency_ms, scores, found, answer)
SELECT $1, r.configuration, r.case_id, r.pipeline, r.latency_ms, r.scores, r.found, r.answer
FROM pg_catalog.jsonb_to_recordset($2)
     AS r (configuration text, case_id bigint, pipeline text, latency_ms float8, scores jsonb, found jsonb,
           answer text)
JOIN rag.eval_case AS c ON c.id = r.case_id
FOR KEY SHARE OF c

-- name: purge
-- $1: the caller, $2: how old, $3: evaluation set, NULL: of any.
WITH gone AS (
    DELETE FROM rag.eval_run
    WHERE pg_catalog.pg_has_role($1::pg_catalog.oid, owner_id, 'USAGE')
      AND started_at OPERATOR(pg_catalog.<) (pg_catalog.now() OPERATOR(pg_catalog.-) $2::interval)
      AND ($3::pg_catalog.text IS NULL OR eval_set OPERATOR(pg_catalog.=) $3::pg_catalog.text)
    RETURNING 1)
SELECT pg_catalog.count(*) FROM gone

-- name: role_is_mine
-- $1: name of a role, which must be there; whether the caller has its rights.
SELECT pg_catalog.pg_has_role($1::pg_catalog.name, 'USAGE')

-- name: floors
-- $1: evaluation set.
SELECT metric, k, floor, channel FROM rag.eval_floor WHERE eval_set OPERATOR(pg_catalog.=) $1 ORDER BY metric, k

-- name: floors_delete
-- $1: evaluation set.
DELETE FROM rag.eval_floor WHERE eval_set OPERATOR(pg_catalog.=) $1

-- name: floors_insert
-- $1: evaluation set, $2: floors as JSON objects, $3: channel on which it is told that one is broken, NULL
-- for none.
INSERT INTO rag.eval_floor (eval_set, metric, k, floor, channel)
SELECT $1, r.metric, r.k, r.floor, $3
FROM pg_catalog.jsonb_to_recordset($2) AS r (metric text, k integer, floor float8)

-- name: notify
-- $1: channel, $2: payload.
SELECT pg_catalog.pg_notify($1, $2)
