-- Asks a new installation: a pipeline over two rows, an answer with its citation, and each model that is installed.

CREATE EXTENSION IF NOT EXISTS pg_rag CASCADE;

CREATE TABLE office (id integer PRIMARY KEY, entry text NOT NULL);
INSERT INTO office VALUES (1, 'Backups run every night at two.'), (2, 'The office opens at nine.');
SELECT rag_create_pipeline('office', 'entry');

SELECT answer || ' cites row ' || (citations -> 0 ->> 'source_key')
FROM rag_answer_details('When does the office open?');

SELECT model.name || ' has ' || vector_dims(rag_embed('The office opens at nine.', model.name)) || ' dimensions'
FROM rag.model, pg_config AS share
WHERE share.name = 'SHAREDIR' AND builtin
    AND (pg_stat_file(share.setting || '/pg_rag/models/' || path || '/' || file, true)).size > 0
ORDER BY model.name;

CREATE ROLE "rag-server" LOGIN;
GRANT SELECT ON office, office_rag, office_rag_chunks TO "rag-server";
