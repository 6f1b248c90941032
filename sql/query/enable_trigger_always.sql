-- Also for what logical replication applies.
ALTER TABLE {source} ENABLE ALWAYS TRIGGER {trigger}
