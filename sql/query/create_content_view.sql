CREATE VIEW {content_view} AS
SELECT {keys},
(
{content}
)::{content_type} AS content{title}{metadata}
FROM {source} AS {alias}
