-- $1: name. Until the end of the transaction nobody else counts its versions.
SELECT pg_catalog.pg_advisory_xact_lock(pg_catalog.hashtextextended('rag.template ' OPERATOR(pg_catalog.||) $1, 0))
