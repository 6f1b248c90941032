SELECT (
{content}
)::pg_catalog.text
