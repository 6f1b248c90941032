//! Nobody waits until somebody else's work is done, not even who shares a pipeline with it.

use std::thread::{self, JoinHandle};

use super::super::at_work::RUNNING;
use super::super::cluster::wait_for;
use super::super::process;
use super::*;

#[path = "../../support/documents.rs"]
#[allow(dead_code)]
mod files;

const ROLES: &str = "
    CREATE EXTENSION pg_rag CASCADE;
    CREATE ROLE busy LOGIN;
    CREATE ROLE other LOGIN;
    GRANT CREATE ON SCHEMA public TO busy, other;";

/// Rows that take minutes.
const BIG: &str = "
    CREATE TABLE big (id integer PRIMARY KEY, body text);
    INSERT INTO big
    SELECT n, (SELECT string_agg(format('Sentence %s of row %s speaks of the harbour in winter.', s, n), ' ')
               FROM generate_series(1, 40) AS s)
    FROM generate_series(1, 8000) AS n;";

const FILL: &str =
    r#"SELECT rag_create_pipeline('big', 'body', options => '{"backfill": "background"}')"#;

/// Rows of the large table that are still to be embedded.
const LEFT: &str = "SELECT count(*) FROM rag.queue AS q JOIN rag.pipeline AS p ON p.id = q.pipeline
    WHERE p.name = 'big'";

/// A server where role `busy` has a pipeline that is being filled, and a superuser's session.
fn filling() -> Option<(Cluster, Client)> {
    let cluster = Cluster::start(&[])?;
    let mut admin = cluster.connect();
    run(&mut admin, ROLES);
    let mut other = cluster.connect_as("other");
    run(
        &mut other,
        "CREATE TABLE small (id integer PRIMARY KEY, body text);
         SELECT rag_create_pipeline('small', 'body');",
    );
    let mut busy = cluster.connect_as("busy");
    run(&mut busy, BIG);
    run(&mut busy, FILL);
    let at_work = "SELECT count(*) FROM rag.queue WHERE lease IS NOT NULL";
    let is_at_work = wait_for(|| count(&mut admin, at_work) > 0);
    assert!(is_at_work, "nobody fills it: {:?}", status(&mut admin));
    Some((cluster, admin))
}

/// Inserts a row into a table as its owner, and asserts that its chunk is there long before the large
/// pipeline is filled.
fn check_is_found_during_the_fill(owner: &str, table: &str) {
    let Some((cluster, mut admin)) = filling() else { return };
    let row = format!("INSERT INTO {table} VALUES (100000, 'A row that is wanted at once.')");
    run(&mut cluster.connect_as(owner), &row);
    let chunks = format!("SELECT count(*) FROM {table}_rag_chunks WHERE source_id = 100000");
    let time = time_until(&mut admin, &chunks, 1);
    let left = count(&mut admin, LEFT);
    println!(
        "a row of {table}: found after {} ms, with {left} rows of the fill left",
        time.as_millis()
    );
    assert!(left > 100, "it was found when the fill had as good as ended: {left} rows left");
}

#[test]
fn a_fill_does_not_keep_other_pipelines_waiting() {
    check_is_found_during_the_fill("other", "small");
}

#[test]
fn a_fill_does_not_keep_new_rows_waiting() {
    check_is_found_during_the_fill("busy", "big");
}

/// Sessions that have a hostile document read, once each.
const HOSTILE: usize = 8;

#[test]
fn hostile_documents_do_not_keep_other_roles_waiting() {
    let Some(cluster) = Cluster::start(&[]) else { return };
    let mut admin = cluster.connect();
    run(&mut admin, ROLES);
    let mut other = cluster.connect_as("other");
    // This starts ragd.
    assert_eq!(read(&mut other), "ten bytes.");
    let sessions = read_hostile_documents(&cluster);
    let ragd = process::ragd(cluster.postmaster_pid()).expect("ragd");
    // As many as a role may have at a time.
    let most = thread::available_parallelism().map_or(1, |cores| cores.get()).min(4);
    let are_at_it = wait_for(|| {
        count(&mut admin, RUNNING) == HOSTILE as i64
            && process::children(ragd, "ragd").len() == most
    });
    assert!(are_at_it, "{} run", count(&mut admin, RUNNING));
    let begun = Instant::now();
    assert_eq!(read(&mut other), "ten bytes.");
    let left = count(&mut admin, RUNNING);
    println!(
        "a small text: read after {} ms, with {left} of {HOSTILE} hostile documents left",
        begun.elapsed().as_millis()
    );
    assert!(left > 0, "all hostile documents came first");
    run(
        &mut admin,
        "SELECT pg_terminate_backend(pid, 10000) FROM pg_stat_activity WHERE usename = 'busy'",
    );
    for session in sessions {
        let error = session.join().expect("a session").expect_err("a hostile document was read");
        let error = describe(&error);
        let ends = ["54000", "57P01", "connection closed", "error communicating"];
        assert!(ends.iter().any(|end| error.contains(end)), "{error}");
    }
}

/// A text of ten bytes, as `rag_parse` gives it.
fn read(client: &mut Client) -> String {
    let statement = "SELECT content FROM rag_parse('ten bytes.'::bytea)";
    client.query_one(statement, &[]).expect("a text").get(0)
}

/// Has role `busy` read them, one a session: whoever comes after all of them finds none running.
fn read_hostile_documents(cluster: &Cluster) -> Vec<JoinHandle<Result<(), postgres::Error>>> {
    let document = files::endless_pdf();
    let clients: Vec<Client> = (0..HOSTILE).map(|_| cluster.connect_as("busy")).collect();
    let start = |mut client: Client| {
        let document = document.clone();
        thread::spawn(move || {
            client.batch_execute("SET rag.parse_timeout = '10s'")?;
            let statement = "SELECT count(*) FROM rag_parse($1) /* slow */";
            client.query_one(statement, &[&document]).map(drop)
        })
    };
    clients.into_iter().map(start).collect()
}
