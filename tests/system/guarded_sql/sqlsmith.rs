//! Statements that SQLsmith makes up from the catalog, with functions of every kind: what runs of them changes nothing.
//!
//! ```text
//! PG_RAG_SQLSMITH=3600 cargo test --test system sqlsmith      for an hour, with statements of another seed each time
//! ```
//!
//! SQLsmith is a program of its own (Debian's package `sqlsmith`); where it is missing, the test says so.

use std::collections::BTreeMap;
use std::io::{BufRead, BufReader};
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

use postgres::Client;

use super::super::cluster::Cluster;
use super::{prepared, state};

/// How many statements are made up where `PG_RAG_SQLSMITH` does not say for how many seconds.
const STATEMENTS: usize = 5000;

/// SQLSTATEs with which a session ends or that tell of a bug.
const BROKEN: &[&str] = &["XX000", "XX001", "XX002", "57P02"];

#[test]
fn sqlsmith_writes_nothing() {
    if Command::new("sqlsmith").arg("--version").output().is_err() {
        eprintln!("skipped: there is no sqlsmith");
        return;
    }
    let Some(cluster) = prepared(&["autovacuum = off"]) else { return };
    let mut admin = cluster.connect();
    admin
        .batch_execute(
            "DROP FOREIGN TABLE distant; DROP TABLE parted; DROP FUNCTION stubborn;
             GRANT INSERT, UPDATE, DELETE ON ALL TABLES IN SCHEMA public TO agent",
        )
        .unwrap();
    let seconds = std::env::var("PG_RAG_SQLSMITH").ok().and_then(|it| it.parse().ok());
    let end = seconds.map(|it| Instant::now() + Duration::from_secs(it));
    let before = (state(&mut admin), next_transaction(&mut admin), cluster.postmaster_pid());
    let (mut ends, mut all) = (BTreeMap::new(), 0);
    for seed in 1.. {
        for role in ["agent", "postgres"] {
            let mut smith = smith(&cluster, seed);
            let mut client = cluster.connect_as(role);
            all += statements(&mut smith, |statement| {
                *ends.entry(ended(&mut client, statement, seed)).or_insert(0) += 1;
                end.is_none_or(|end| Instant::now() < end)
            });
            smith.wait().expect("sqlsmith");
        }
        if end.is_none_or(|end| Instant::now() >= end) {
            break;
        }
    }
    println!("{all} statements: {ends:?}");
    assert!(all > STATEMENTS, "only {all} statements");
    assert!(ends.get("ok").is_some_and(|ran| *ran > 20), "{ends:?}");
    let after = (state(&mut admin), next_transaction(&mut admin), cluster.postmaster_pid());
    assert_eq!(after, before);
}

fn smith(cluster: &Cluster, seed: usize) -> Child {
    let target = format!("host={} user=postgres dbname=postgres", cluster.socket());
    let mut command = Command::new("sqlsmith");
    command.args([format!("--target={target}"), format!("--seed={seed}")]);
    command.args(["--dry-run".to_owned(), format!("--max-queries={STATEMENTS}")]);
    if seed % 2 == 1 {
        command.arg("--exclude-catalog");
    }
    command.stdout(Stdio::piped()).stderr(Stdio::null()).spawn().expect("sqlsmith")
}

/// Hands each statement to `run` until it wants no more; how many there were.
fn statements(smith: &mut Child, mut run: impl FnMut(&str) -> bool) -> usize {
    let (mut statement, mut count) = (String::new(), 0);
    for line in BufReader::new(smith.stdout.take().expect("its output")).lines() {
        let line = String::from_utf8_lossy(line.expect("a line").as_bytes()).into_owned();
        if line.starts_with("Loading") || line.starts_with("Generating") {
            continue;
        }
        statement.push_str(&line);
        statement.push('\n');
        if line.ends_with(';') {
            count += 1;
            if !run(statement.trim_end().trim_end_matches(';')) {
                break;
            }
            statement.clear();
        }
    }
    let _ = smith.kill();
    count
}

/// How a statement ends: its SQLSTATE, "ok" where it runs.
fn ended(client: &mut Client, statement: &str, seed: usize) -> String {
    let options = ["{}", r#"{"catalogs": true}"#, r#"{"schemas": ["public"]}"#][seed % 3];
    let query = "SELECT count(*) FROM rag_sql_run($1, 100, '1 second', 1e9, $2::text::jsonb)";
    match client.query_one(query, &[&statement, &options]) {
        Ok(_) => "ok".to_owned(),
        Err(error) => {
            let Some(told) = error.as_db_error() else { panic!("{error}: {statement}") };
            let code = told.code().code();
            let is_sound = !BROKEN.contains(&code)
                || code == "XX000" && fails_alone(client, statement, told.message());
            assert!(is_sound, "{code} {}: {statement}", told.message());
            code.to_owned()
        }
    }
}

/// Whether PostgreSQL says the same of a statement without the guard: SQLsmith finds what is unfinished there, too. The guard
/// lets it run, or it fails before anything of it runs.
fn fails_alone(client: &mut Client, statement: &str, message: &str) -> bool {
    let begin = "BEGIN READ ONLY; SET LOCAL statement_timeout = '10s'";
    client.batch_execute(begin).expect("a transaction");
    let error = client.batch_execute(statement).err();
    client.batch_execute("ROLLBACK").expect("the transaction's end");
    error.is_some_and(|it| it.as_db_error().is_some_and(|told| told.message() == message))
}

/// The number that the next transaction gets that writes.
fn next_transaction(client: &mut Client) -> String {
    let query = "SELECT pg_snapshot_xmax(pg_current_snapshot())::text";
    client.query_one(query, &[]).unwrap().get(0)
}
