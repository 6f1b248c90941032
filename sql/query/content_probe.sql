SELECT (
{content}
)::text
