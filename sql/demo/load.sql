-- Makes the table hold exactly the sections on standard input (CSV: file, title, body).
-- Rows that did not change are not touched, so that they keep their chunks.

BEGIN;

CREATE TEMPORARY TABLE section (file text, title text, body text) ON COMMIT DROP;

\copy section FROM pstdin (FORMAT csv)

DELETE FROM manual
WHERE NOT EXISTS (SELECT FROM section WHERE (section.file, section.title) = (manual.file, manual.title));

INSERT INTO manual AS old (file, title, body)
SELECT file, title, body FROM section
ON CONFLICT (file, title) DO UPDATE SET body = excluded.body
WHERE old.body <> excluded.body;

COMMIT;
