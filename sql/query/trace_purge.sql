-- $1: the caller, $2: how old. Each role deletes what is its own, or of a role that it is a member of.
WITH gone AS (
    DELETE FROM rag.trace_log
    WHERE pg_catalog.pg_has_role($1::pg_catalog.oid, owner_id, 'USAGE')
      AND created_at OPERATOR(pg_catalog.<) (pg_catalog.now() OPERATOR(pg_catalog.-) $2::interval)
    RETURNING 1)
SELECT pg_catalog.count(*) FROM gone
