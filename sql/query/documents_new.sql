SELECT ARRAY[{keys}], v.content
FROM {content_view} AS v
WHERE ({view_keys}) IN (SELECT {new_keys} FROM rag_new AS n)
