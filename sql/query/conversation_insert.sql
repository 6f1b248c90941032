-- $1: ID, $2: role, $3: title.
INSERT INTO rag.conversation (id, owner, title) VALUES ($1, $2::name, $3)
