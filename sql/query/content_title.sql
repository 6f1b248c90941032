,
(
{title}
)::pg_catalog.text AS {name}
