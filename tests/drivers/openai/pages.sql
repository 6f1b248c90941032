-- The pages that the programs ask about, behind rag-server.
CREATE TABLE page (id integer PRIMARY KEY, title text NOT NULL, body text NOT NULL, lang text NOT NULL);
COMMENT ON TABLE page IS 'help for customers';
INSERT INTO page VALUES
    (1, 'Passwords', 'To reset a password, choose "Forgot password" on the sign-in page.', 'en'),
    (2, 'Invoices', 'Invoices are sent monthly. A refund takes five working days.', 'en'),
    (3, 'Passwörter', 'Um ein Passwort zurückzusetzen, wählen Sie "Passwort vergessen".', 'de');
SELECT rag_create_pipeline('page', 'body', metadata => ARRAY['title', 'lang'], refresh => 'sync');
