-- $1: pipeline, $2: lease. These rows are tried one by one: they get the lease of no process.
UPDATE rag.queue SET lease = 0, leased_until = NULL WHERE pipeline = $1 AND lease = $2
