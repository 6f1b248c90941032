-- $1: the caller, $2: ID.
DELETE FROM rag.trace_log
WHERE id OPERATOR(pg_catalog.=) $2 AND pg_catalog.pg_has_role($1::pg_catalog.oid, owner_id, 'USAGE')
