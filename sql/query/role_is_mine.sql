-- $1: name of a role, which must be there; whether the caller has its rights.
SELECT pg_catalog.pg_has_role($1::pg_catalog.name, 'USAGE')
