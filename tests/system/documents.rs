//! A small pipeline to ask, and what is the same in all tests.

use postgres::{Client, Error};

/// The extension, a table of documents, and a pipeline over it.
pub const SETUP: &str = "
    CREATE EXTENSION pg_rag CASCADE;
    CREATE TABLE docs (id integer PRIMARY KEY, title text, body text);
    INSERT INTO docs VALUES
        (1, 'Passwords', 'To reset a password, open the settings page and choose Reset password. A link is sent by mail.'),
        (2, 'Invoices', 'Invoices are sent on the first day of each month. They can be paid by card or bank transfer.'),
        (3, 'Backups', 'Backups are made every night at two and are kept for thirty days.');
    SELECT rag_create_pipeline('docs', 'body', refresh => 'sync');";

/// A question that document 1 answers.
pub const QUESTION: &str = "How do I reset a password?";

/// What [`QUESTION`] finds: the keys of the documents, best first.
pub fn found(client: &mut Client) -> Vec<String> {
    let rows = client.query("SELECT source_key FROM rag_retrieve($1)", &[&QUESTION]).unwrap();
    rows.iter().map(|row| row.get(0)).collect()
}

/// The answer to [`QUESTION`].
pub fn answer(client: &mut Client) -> String {
    client.query_one("SELECT rag_answer($1)", &[&QUESTION]).unwrap().get(0)
}

/// A number that a query gives.
pub fn count(client: &mut Client, query: &str) -> i64 {
    client
        .query_one(query, &[])
        .unwrap_or_else(|error| panic!("{query}: {}", describe(&error)))
        .get(0)
}

/// An error as a user sees it: `SQLSTATE message (hint)`.
pub fn describe(error: &Error) -> String {
    match error.as_db_error() {
        Some(error) => {
            let hint = error.hint().map(|hint| format!(" ({hint})")).unwrap_or_default();
            format!("{} {}{hint}", error.code().code(), error.message())
        }
        None => error.to_string(),
    }
}

/// Asserts that a statement fails, and that what the user sees has all of these parts.
pub fn assert_fails(client: &mut Client, statement: &str, parts: &[&str]) {
    let error = match client.batch_execute(statement) {
        Ok(()) => panic!("{statement} did not fail"),
        Err(error) => describe(&error),
    };
    for part in parts {
        assert!(error.contains(part), "{statement}: {error:?} does not say {part:?}");
    }
}

/// A long text of which no sentence is like another.
pub fn prose(seed: usize, sentences: usize) -> String {
    const WORDS: [&str; 16] = [
        "river", "engine", "ledger", "orchard", "signal", "harbour", "copper", "lantern", "valley",
        "archive", "thunder", "market", "window", "journey", "garden", "winter",
    ];
    let word = |place: usize| WORDS[(place * 7 + seed * 5 + place / 16) % WORDS.len()];
    let sentence = |n: usize| {
        format!(
            "The {} of number {} meets the {} near the {}. ",
            word(n),
            n + seed * 1000,
            word(n + 1),
            word(n + 3)
        )
    };
    (0..sentences).map(sentence).collect()
}
