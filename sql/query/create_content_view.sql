CREATE VIEW {content_view} AS
SELECT {keys},
(
{content}
)::text AS content{metadata}
FROM {source} AS {alias}
