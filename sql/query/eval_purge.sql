-- $1: the caller, $2: how old, $3: evaluation set, NULL: of any.
WITH gone AS (
    DELETE FROM rag.eval_run
    WHERE pg_catalog.pg_has_role($1::pg_catalog.oid, owner_id, 'USAGE')
      AND started_at OPERATOR(pg_catalog.<) (pg_catalog.now() OPERATOR(pg_catalog.-) $2::interval)
      AND ($3::pg_catalog.text IS NULL OR eval_set OPERATOR(pg_catalog.=) $3::pg_catalog.text)
    RETURNING 1)
SELECT pg_catalog.count(*) FROM gone
