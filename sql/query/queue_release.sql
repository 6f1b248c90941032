-- $1: pipeline, $2: lease. Through no fault of the rows.
UPDATE rag.queue SET lease = NULL, leased_until = NULL WHERE pipeline = $1 AND lease = $2
