CREATE VIEW {view} WITH (security_invoker = true) AS
SELECT c.chunk_id, {keys}, c.chunk_no, c.content, c.start_char, c.end_char, c.heading,
       c.parent_start, c.parent_end, c.token_count{metadata}, c.embedding, c.tsv
FROM {chunk_table} AS c
JOIN {source} AS s ON {key_join}
