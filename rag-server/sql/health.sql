-- What a database says that can be asked.
SELECT 1
