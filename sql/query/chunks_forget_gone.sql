-- Chunks of rows that were in the old transition table and are in the source no more.
DELETE FROM {chunk_table} AS c
USING (SELECT DISTINCT {old_keys} FROM rag_old AS o) AS gone ({key_names})
WHERE {chunk_match}
  AND NOT EXISTS (SELECT FROM {source} AS s WHERE {source_match})
