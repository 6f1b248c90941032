"""The table and the pipeline that the programs of pg-rag ask."""

import psycopg

PAGES = [
    (1, "Passwords", 'To reset a password, choose "Forgot password" on the sign-in page.', "en"),
    (2, "Invoices", "Invoices are sent monthly. A refund takes five working days.", "en"),
    (3, "Passwörter", 'Um ein Passwort zurückzusetzen, wählen Sie "Passwort vergessen".', "de"),
]


def create():
    """Create the pages and their pipeline."""
    with psycopg.connect() as connection:
        connection.execute(
            "CREATE TABLE page (id integer PRIMARY KEY, title text NOT NULL, body text NOT NULL, lang text NOT NULL)"
        )
        connection.cursor().executemany("INSERT INTO page VALUES (%s, %s, %s, %s)", PAGES)
        connection.execute("SELECT rag_create_pipeline('page', 'body', metadata => ARRAY['title', 'lang'])")
