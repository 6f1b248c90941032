-- The successor, before its predecessor goes: for a moment it has a name of its own.
UPDATE rag.pipeline SET replaces = NULL, name = ' ' || id WHERE id = $1
