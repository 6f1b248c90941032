-- $1: names of relations. Those that are there, and what drops each of them.
SELECT c.oid::regclass::text,
       pg_catalog.concat('DROP ', CASE WHEN c.relkind = 'v' THEN 'VIEW ' ELSE 'TABLE ' END, c.oid::regclass)
FROM pg_catalog.unnest($1::text[]) WITH ORDINALITY AS u (name, place)
JOIN pg_catalog.pg_class AS c ON c.oid = pg_catalog.to_regclass(u.name)
ORDER BY u.place
