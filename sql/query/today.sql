SELECT pg_catalog.to_char(CURRENT_DATE, 'YYYY-MM-DD')
