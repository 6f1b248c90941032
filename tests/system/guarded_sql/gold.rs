//! Queries that people have written for questions that people ask: nearly all of them must run.
//!
//! The judged set is no part of the project. Its folder is `PG_RAG_SQL_QUESTIONS`, with `questions.jsonl` and
//! `databases/NAME.sql`; where it is missing, the test says so.

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use postgres::{Client, NoTls, Row};
use serde_json::Value;

use super::super::cluster::Cluster;
use super::super::documents::describe;

/// Least part of the queries that PostgreSQL runs that must run under guard, with the same rows.
const LEAST: f64 = 0.99;

#[test]
fn queries_of_people_run_as_they_do_otherwise() {
    let Some(folder) = folder() else { return };
    let Some(cluster) = Cluster::start(&[]) else { return };
    let mut by_database: BTreeMap<String, Vec<String>> = BTreeMap::new();
    for (database, queries) in questions(&folder) {
        by_database.entry(database).or_default().extend(queries);
    }
    let (mut ran, mut alike, mut odd) = (0, 0, Vec::new());
    let (mut plain_time, mut guarded_time) = (Vec::new(), Vec::new());
    for (database, queries) in by_database {
        let mut client = database_of(&cluster, &folder, &database);
        for query in queries {
            // Twice, so that caches of the catalogs are warm for both.
            let _ = plain_rows(&mut client, &query);
            let begun = Instant::now();
            let Some(plain) = plain_rows(&mut client, &query) else { continue };
            plain_time.push(begun.elapsed());
            ran += 1;
            let _ = guarded_rows(&mut client, &query);
            let begun = Instant::now();
            let guarded = guarded_rows(&mut client, &query);
            guarded_time.push(begun.elapsed());
            match guarded {
                Ok(guarded) if guarded == plain => alike += 1,
                Ok(guarded) => {
                    odd.push(format!("{database}: {query}: {guarded:?} is not {plain:?}"))
                }
                Err(error) => odd.push(format!("{database}: {query}: {error}")),
            }
        }
    }
    let (plain, guarded) = (median(&mut plain_time), median(&mut guarded_time));
    println!(
        "{alike} of {ran} queries have the same rows; median {guarded:?}, without the guard {plain:?}"
    );
    odd.iter().for_each(|it| println!("{it}"));
    assert!(ran > 150, "only {ran} queries run at all");
    assert!(f64::from(alike) >= LEAST * f64::from(ran), "{alike} of {ran}");
}

fn folder() -> Option<PathBuf> {
    let folder = std::env::var("PG_RAG_SQL_QUESTIONS").ok().filter(|it| !it.is_empty());
    if folder.is_none() {
        eprintln!("skipped: PG_RAG_SQL_QUESTIONS does not name a folder of questions");
    }
    folder.map(PathBuf::from)
}

/// The queries of each question, with the name of its database.
fn questions(folder: &Path) -> Vec<(String, Vec<String>)> {
    let text = fs::read_to_string(folder.join("questions.jsonl")).expect("questions.jsonl");
    let question = |line: &str| {
        let question: Value = serde_json::from_str(line).expect("a question");
        let gold = question["gold"].as_array().expect("queries");
        let gold = gold.iter().filter_map(Value::as_str).map(with_all_columns).collect();
        (question["database"].as_str().expect("a database").to_owned(), gold)
    };
    text.lines().map(question).collect()
}

/// `{a, b}` stands for any choice of columns, and `{}` for the same once more: here for all of them.
fn with_all_columns(query: &str) -> String {
    let (mut written, mut rest, mut last) = (String::new(), query, "");
    while let Some((before, after)) = rest.split_once('{') {
        let (choice, after) = after.split_once('}').unwrap_or((after, ""));
        last = if choice.is_empty() { last } else { choice };
        written.push_str(before);
        written.push_str(last);
        rest = after;
    }
    (written + rest).trim_end_matches([';', ' ', '\n']).to_owned()
}

fn database_of(cluster: &Cluster, folder: &Path, name: &str) -> Client {
    let mut maintenance = cluster.connect();
    maintenance.batch_execute(&format!("CREATE DATABASE {name}")).unwrap();
    let mut client = cluster.config(name).connect(NoTls).expect("a session");
    let script = fs::read_to_string(folder.join(format!("databases/{name}.sql"))).expect(name);
    client.batch_execute(&script).unwrap_or_else(|error| panic!("{name}: {}", describe(&error)));
    client.batch_execute("CREATE EXTENSION pg_rag CASCADE; ANALYZE; SET timezone = 'UTC'").unwrap();
    client
}

/// The rows of a query as jsonb, sorted; `None` where it does not run.
fn plain_rows(client: &mut Client, query: &str) -> Option<Vec<String>> {
    let rows = client.query(&format!("SELECT to_jsonb(r)::text FROM ({query}) AS r"), &[]).ok()?;
    Some(sorted(&rows))
}

fn guarded_rows(client: &mut Client, query: &str) -> Result<Vec<String>, String> {
    let rows = client.query("SELECT data::text FROM rag_sql_run($1, 100000)", &[&query]);
    rows.map(|rows| sorted(&rows)).map_err(|error| describe(&error))
}

fn sorted(rows: &[Row]) -> Vec<String> {
    let mut rows: Vec<String> = rows.iter().map(|row| row.get(0)).collect();
    rows.sort_unstable();
    rows
}

fn median(times: &mut [Duration]) -> Duration {
    times.sort_unstable();
    times.get(times.len() / 2).copied().unwrap_or_default()
}
