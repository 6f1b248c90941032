SELECT ARRAY[{keys}], v.content FROM {content_view} AS v
