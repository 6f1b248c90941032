,
(
{title}
)::text AS {name}
