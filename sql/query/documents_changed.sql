-- Rows of the transition tables whose content, metadata or key is new. Rows are compared as
-- stored (*=), which works for any type; the casts keep the comparison from being taken apart.
SELECT ARRAY[{keys}], v.content
FROM {content_view} AS v
WHERE ({view_keys}) IN (
    SELECT {new_keys} FROM rag_new AS n
    LEFT JOIN rag_old AS o ON {key_match}
    WHERE NOT (ROW({old_columns})::record OPERATOR(pg_catalog.*=) ROW({new_columns})::record))
