-- $1..: one text array a key column. The rows with these keys, as far as there are any. The
-- condition for each column is what keeps a volatile content from being computed for other rows.
SELECT ARRAY[{key_texts}], v.content, {title}
FROM ROWS FROM ({unnest_keys}) AS d ({key_names})
JOIN {content_view} AS v ON {view_match}
WHERE {view_keys_known}
