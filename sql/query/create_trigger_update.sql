-- Rows are compared as stored, which works for any type.
CREATE TRIGGER {trigger} AFTER UPDATE ON {source}
FOR EACH ROW
WHEN (pg_catalog.record_image_ne({old_row}, {new_row}))
EXECUTE FUNCTION rag.capture({id})
