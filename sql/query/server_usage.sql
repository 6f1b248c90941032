SELECT pg_catalog.has_server_privilege($1, 'USAGE')
