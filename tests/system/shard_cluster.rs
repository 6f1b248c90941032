//! A server with databases that are shards of one pipeline, which postgres_fdw reaches over the socket. Where PostgreSQL has
//! no postgres_fdw, tests are skipped, with a word.

use std::path::Path;
use std::process::Command;
use std::sync::{Arc, Mutex};

use postgres::{Client, NoTls};

use super::cluster::Cluster;

/// A database of a shard, or of all rows.
const SHARD: &str = "
    CREATE EXTENSION pg_rag CASCADE;
    CREATE TABLE docs (id integer PRIMARY KEY, body text, lang text,
                       day date GENERATED ALWAYS AS ('2026-01-01'::date + id) STORED,
                       at timestamptz GENERATED ALWAYS AS (to_timestamp(1767225600 + id * 3600)) STORED);
    SELECT rag_create_pipeline('docs', 'body', metadata => ARRAY['lang', 'day', 'at'], refresh => 'sync',
                               chunking => '{\"max_tokens\": 64}');";

pub const SHARDS: [&str; 3] = ["s1", "s2", "s3"];

/// What each of three databases has a third of.
pub const SENTENCES: [(&str, &str); 24] = [
    ("The mill by the river ground rye for the whole valley until it burnt down.", "en"),
    ("Visitors park their cars behind the mill, and bicycles in front of it.", "en"),
    ("The library opens at nine in the morning and is closed on Sundays.", "en"),
    ("Lunch is served in the canteen from noon to two, on Fridays there is fish.", "en"),
    ("Die Mühle mahlte Roggen für das ganze Tal.", "de"),
    ("A lost key is reported to the porter, who has a list of all of them.", "en"),
    ("The porter sits in the hall by the entrance from six in the morning on.", "en"),
    ("Rooms are booked a week ahead, the large hall a month ahead.", "en"),
    ("Invoices are paid on the first day of each month by bank transfer.", "en"),
    ("The printer on the second floor shows error E4711 when the paper is moist.", "en"),
    ("Paper for the printer is in the cupboard on the second floor.", "en"),
    ("Der Drucker steht im zweiten Stock neben dem Aufzug.", "de"),
    ("Backups are made every night at two and are kept for thirty days.", "en"),
    ("To reset a password, open the settings page and choose Reset password.", "en"),
    ("A new password has twelve characters at least and is changed once a year.", "en"),
    ("The lift is inspected each spring, and the stairs are used meanwhile.", "en"),
    ("The garden behind the library is open in summer until it gets dark.", "en"),
    ("Dogs are welcome in the garden, but not in the library.", "en"),
    ("Hunde dürfen in den Garten, aber nicht in die Bibliothek.", "de"),
    ("The river floods the lower meadow in March, and the path is closed then.", "en"),
    ("The path along the river leads from the mill to the old bridge.", "en"),
    ("The old bridge carries nothing heavier than a bicycle.", "en"),
    ("Bicycles are repaired in the yard on the first Saturday of each month.", "en"),
    ("The yard is locked at ten in the evening by the porter.", "en"),
];

pub const QUESTIONS: [&str; 6] = [
    "Where do visitors park?",
    "What does the printer show when the paper is moist?",
    "When is the library open?",
    "Who locks the yard in the evening?",
    "How long are backups kept?",
    "Wo steht der Drucker?",
];

/// What is found for a question: place, content and score.
pub type Found = Vec<(i32, String, f64)>;

/// A server with three shards, a database `one` with all of their rows, and a pipeline over the shards; `None`, with a
/// word, where that cannot be.
pub fn sharded(settings: &[&str]) -> Option<Cluster> {
    if !has_postgres_fdw() {
        eprintln!("skipped: this PostgreSQL has no postgres_fdw");
        return None;
    }
    let cluster = Cluster::start(settings)?;
    let mut client = cluster.connect();
    for (shard, rows) in SHARDS.iter().zip(SENTENCES.chunks(SENTENCES.len() / SHARDS.len())) {
        make_database(&cluster, shard, rows);
    }
    make_database(&cluster, "one", &SENTENCES);
    client.batch_execute("CREATE EXTENSION pg_rag CASCADE; CREATE EXTENSION postgres_fdw").unwrap();
    for shard in SHARDS {
        client.batch_execute(&server(shard, &cluster.socket(), shard)).unwrap();
    }
    client.batch_execute("SELECT rag_create_pipeline(name => 'house', shards => ARRAY['s1.docs', 's2.docs', 's3.docs'])").unwrap();
    Some(cluster)
}

/// Whether the PostgreSQL of the tests, if there is one, comes with its contributed modules. One without them does not
/// start with settings that load one.
fn has_postgres_fdw() -> bool {
    let Some(pg_config) = std::env::var_os("PG_RAG_PG_CONFIG") else { return true };
    let shared = Command::new(pg_config).arg("--sharedir").output().unwrap();
    let shared = String::from_utf8(shared.stdout).unwrap();
    Path::new(shared.trim()).join("extension/postgres_fdw.control").exists()
}

/// A database with these rows, each of which is embedded by itself, so that its vector is the same everywhere.
pub fn make_database(cluster: &Cluster, name: &str, rows: &[(&str, &str)]) {
    cluster.connect().batch_execute(&format!("CREATE DATABASE {name}")).unwrap();
    let mut client = cluster.connect_to(name);
    client.batch_execute(SHARD).unwrap();
    for (body, lang) in rows {
        let id = SENTENCES.iter().position(|it| it.0 == *body).unwrap() as i32;
        client.execute("INSERT INTO docs VALUES ($1, $2, $3)", &[&id, body, lang]).unwrap();
    }
}

/// A foreign server, as which the superuser is a superuser.
pub fn server(name: &str, host: &str, database: &str) -> String {
    format!(
        "CREATE SERVER {name} FOREIGN DATA WRAPPER postgres_fdw
             OPTIONS (host '{host}', dbname '{database}', extensions 'vector, pg_rag');
         CREATE USER MAPPING FOR postgres SERVER {name} OPTIONS (user 'postgres');"
    )
}

pub fn found(client: &mut Client, question: &str, mode: &str, options: &str) -> Found {
    let query = "SELECT rank, content, score FROM rag_retrieve($1, k => 8, mode => $2, options => $3::text::jsonb)";
    let rows = client.query(query, &[&question, &mode, &options]).unwrap();
    rows.iter().map(|row| (row.get(0), row.get(1), row.get(2))).collect()
}

/// A session that keeps what it is told.
pub fn listening(cluster: &Cluster) -> (Client, Arc<Mutex<Vec<String>>>) {
    let heard = Arc::new(Mutex::new(Vec::new()));
    let listener = Arc::clone(&heard);
    let mut config = cluster.config("postgres");
    config.notice_callback(move |notice| {
        let told = format!("{} {}", notice.severity(), notice.message());
        listener.lock().unwrap().push(told);
    });
    (config.connect(NoTls).unwrap(), heard)
}
