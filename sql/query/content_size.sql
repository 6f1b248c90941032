-- $1: more rows than are counted. Rows and bytes of the content, as far as they are few.
SELECT pg_catalog.count(*), coalesce(pg_catalog.sum(pg_catalog.octet_length(v.content)), 0)::bigint
FROM (SELECT v.content FROM {content_view} AS v LIMIT $1) AS v
