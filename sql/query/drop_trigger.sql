DROP TRIGGER IF EXISTS {trigger} ON {source}
