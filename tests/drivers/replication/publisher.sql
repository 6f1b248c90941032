-- region publisher
-- At the publisher, which needs wal_level = logical and no pg_rag.
CREATE TABLE page (id integer PRIMARY KEY, title text NOT NULL, body text NOT NULL);
INSERT INTO page VALUES
    (1, 'Passwords', 'To reset a password, choose "Forgot password" on the sign-in page.'),
    (2, 'Invoices', 'Invoices are sent monthly. A refund takes five working days.');
CREATE PUBLICATION help FOR TABLE page;
-- endregion
