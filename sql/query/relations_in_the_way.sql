-- $1: names of relations. Those that are there, and what drops each of them.
SELECT c.oid::pg_catalog.regclass::pg_catalog.text,
       pg_catalog.concat('DROP ', CASE WHEN c.relkind OPERATOR(pg_catalog.=) 'v' THEN 'VIEW ' ELSE 'TABLE ' END, c.oid::pg_catalog.regclass)
FROM pg_catalog.unnest($1::pg_catalog.text[]) WITH ORDINALITY AS u (name, place)
JOIN pg_catalog.pg_class AS c ON c.oid OPERATOR(pg_catalog.=) pg_catalog.to_regclass(u.name)
ORDER BY u.place
