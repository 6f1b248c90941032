-- $1: document of each chunk that stays, $2: its number, $3: the hash of its text; then one text
-- array a key column. Chunks of these documents that are not among them.
DELETE FROM {chunk_table} AS c
USING ROWS FROM ({unnest_keys}) WITH ORDINALITY AS d ({key_names}, document)
WHERE {chunk_match}
  AND NOT EXISTS (
      SELECT FROM ROWS FROM (pg_catalog.unnest($1::integer[]), pg_catalog.unnest($2::integer[]),
                             pg_catalog.unnest($3::bytea[])) AS u (document, chunk_no, content_hash)
      WHERE u.document = d.document AND u.chunk_no = c.chunk_no
        AND u.content_hash = c.content_hash)
