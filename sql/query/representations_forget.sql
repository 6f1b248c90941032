-- $1: hashes of texts.
DELETE FROM {representations} WHERE content_hash = ANY ($1)
