//! Something that ragd needs is missing: the error says what, and once it is there the next
//! call works.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use postgres::Client;

use super::cluster::{Cluster, wait_for};
use super::documents::{SETUP, answer, assert_fails, count};
use super::process;

const CALL: &str = "SELECT rag_embed('is anybody there?')";

#[test]
fn no_worker_slot() {
    let settings = ["max_worker_processes = 0", "max_logical_replication_workers = 0"];
    let Some(cluster) = Cluster::start(&settings) else { return };
    let mut client = cluster.connect();
    client.batch_execute("CREATE EXTENSION pg_rag CASCADE").unwrap();
    assert_fails(
        &mut client,
        CALL,
        &["53000", "no background worker slot", "(Raise max_worker_processes"],
    );
    client.batch_execute("SELECT 1").unwrap();
}

/// A pipeline in the background, and a call that needs ragd.
const BACKGROUND: &str = "
    CREATE EXTENSION pg_rag CASCADE;
    CREATE TABLE docs (id integer PRIMARY KEY, body text);
    SELECT rag_create_pipeline('docs', 'body');";

const WORKERS: &str = "SELECT count(*) FROM pg_stat_activity WHERE backend_type = 'pg_rag worker'";

#[test]
fn one_worker_slot_is_ragds() {
    let settings = ["max_worker_processes = 1", "max_logical_replication_workers = 0"];
    let Some(mut cluster) = Cluster::start(&settings) else { return };
    let mut client = cluster.connect();
    client.batch_execute(BACKGROUND).unwrap();
    // Its commit would start a worker.
    client.batch_execute("INSERT INTO docs VALUES (1, 'A row that waits.')").unwrap();
    client.batch_execute(CALL).expect("a call beside a row that waits");
    assert_eq!(count(&mut client, WORKERS), 0);
    let no_slot = ["53000", "no background worker slot", "(Raise max_worker_processes"];
    assert_fails(&mut client, "SELECT rag_wait('docs', '5 minutes')", &no_slot);
    // With another one the row is embedded.
    drop(client);
    cluster.configure(&["max_worker_processes = 2"]);
    cluster.stop("INT");
    cluster.boot();
    let mut client = cluster.connect();
    let done = client.query_one("SELECT rag_wait('docs', '5 minutes')", &[]).unwrap();
    assert!(done.get::<_, bool>(0), "the row waits");
}

/// The supervisor has gone, and somebody else has its slot.
#[test]
fn a_worker_leaves_its_slot_to_ragd() {
    let settings = ["max_worker_processes = 2", "max_logical_replication_workers = 0"];
    let Some(cluster) = Cluster::start(&settings) else { return };
    let mut client = cluster.connect();
    client.batch_execute(BACKGROUND).unwrap();
    client.batch_execute("INSERT INTO docs VALUES (1, 'The first row.')").unwrap();
    let done = client.query_one("SELECT rag_wait('docs', '5 minutes')", &[]).unwrap();
    assert!(done.get::<_, bool>(0), "the first row waits");
    let ragd = process::ragd(cluster.postmaster_pid()).expect("ragd");
    let supervisor = process::parent(ragd).expect("the supervisor");
    process::signal(supervisor, "TERM");
    assert!(wait_for(|| !process::is_alive(supervisor)), "the supervisor goes on");
    let mut other = cluster.connect();
    // This is how a session has a worker.
    other.batch_execute("SET debug_parallel_query = on").unwrap();
    let mut canceller = cluster.canceller(&mut other);
    let stop = Arc::new(AtomicBool::new(false));
    let is_over = Arc::clone(&stop);
    let sleeper = std::thread::spawn(move || {
        while !is_over.load(Ordering::SeqCst) {
            drop(other.batch_execute("SELECT pg_sleep(3600) /* in a worker */"));
        }
    });
    let parallel = "SELECT count(*) FROM pg_stat_activity WHERE backend_type = 'parallel worker'
                    AND query LIKE '%/* in a worker */'";
    let is_taken = wait_for(|| {
        // The slot is free once the postmaster has seen the supervisor's end.
        std::thread::sleep(Duration::from_millis(300));
        let is_taken = count(canceller.observer(), parallel) == 1;
        is_taken || {
            canceller.cancel();
            false
        }
    });
    assert!(is_taken, "no parallel worker");
    let mut client = cluster.connect();
    client.batch_execute("INSERT INTO docs VALUES (2, 'The second row.')").unwrap();
    assert!(wait_for(|| count(&mut client, WORKERS) == 0), "the worker keeps its slot");
    client.batch_execute(CALL).expect("a call in the slot of the worker");
    stop.store(true, Ordering::SeqCst);
    canceller.cancel();
    sleeper.join().unwrap();
    // Nobody commits or waits: the supervisor sees that there is a slot again.
    let found = "SELECT count(*) FROM docs_rag_chunks";
    assert!(wait_for(|| count(&mut client, found) == 2), "the second row waits");
}

#[test]
fn no_executable() {
    repaired(
        &["rag.ragd_path = '/nonexistent/ragd'"],
        "rag.ragd_path = ''",
        &["58P01", "cannot start ragd", "/nonexistent/ragd", "rag.ragd_path"],
    );
}

#[test]
fn an_executable_that_ends_at_once() {
    repaired(
        &["rag.ragd_path = '/bin/false'", "rag.ragd_start_timeout = 1500"],
        "rag.ragd_path = ''",
        &["57P03", "ragd did not start within 1500 ms", "server log"],
    );
}

#[test]
fn no_library() {
    repaired(
        &["rag.onnxruntime_library = '/nonexistent/libonnxruntime.so'"],
        "rag.onnxruntime_library = ''",
        &["58P01", "/nonexistent/libonnxruntime.so", "rag.onnxruntime_library"],
    );
}

#[test]
fn a_library_that_is_none() {
    repaired(
        &["rag.onnxruntime_library = '/etc/passwd'"],
        "rag.onnxruntime_library = ''",
        &["/etc/passwd", "rag.onnxruntime_library"],
    );
}

/// A server with settings that break ragd: a call fails so, in a new session and in an old
/// one. With another setting the same session's next call works.
fn repaired(broken: &[&str], whole: &str, parts: &[&str]) {
    let Some(cluster) = Cluster::start(broken) else { return };
    let mut client = cluster.connect();
    client.batch_execute("CREATE EXTENSION pg_rag CASCADE").unwrap();
    assert_fails(&mut client, CALL, parts);
    assert_fails(&mut client, CALL, parts);
    assert_fails(&mut cluster.connect(), CALL, parts);
    reconfigure(&cluster, &[whole, "rag.ragd_start_timeout = 60000"]);
    client.batch_execute(CALL).expect("the call after the repair");
    client.batch_execute(&SETUP.replace("CREATE EXTENSION pg_rag CASCADE;", "")).unwrap();
    assert!(answer(&mut client).contains("settings page"));
}

/// Adds lines to the configuration, and waits until a ragd that was started with another is gone.
pub fn reconfigure(cluster: &Cluster, settings: &[&str]) {
    let old = process::ragd(cluster.postmaster_pid());
    cluster.configure(settings);
    cluster.reload();
    let is_gone = wait_for(|| old.is_none_or(|ragd| !process::is_alive(ragd)));
    assert!(is_gone, "ragd goes on with its old settings");
}

#[test]
fn breaking_and_repairing_a_running_server() {
    let Some(cluster) = Cluster::start(&[]) else { return };
    let mut client = cluster.connect();
    client.batch_execute(SETUP).unwrap();
    client.batch_execute(CALL).unwrap();
    reconfigure(&cluster, &["rag.ragd_path = '/nonexistent/ragd'"]);
    let other = "SELECT rag_embed('something else')";
    assert_fails(&mut client, other, &["58P01", "/nonexistent/ragd"]);
    let insert = "INSERT INTO docs VALUES (4, 'x', 'This row must not be lost silently.')";
    assert_fails(&mut client, insert, &["58P01", "/nonexistent/ragd"]);
    client
        .batch_execute("UPDATE docs SET title = 'untouched text needs no model' WHERE id = 1")
        .unwrap();
    client.batch_execute("DELETE FROM docs WHERE id = 2").unwrap();
    reconfigure(&cluster, &["rag.ragd_path = ''"]);
    client.batch_execute(insert).expect("the insert after the repair");
    client.batch_execute(other).unwrap();
}

#[test]
fn rows_wait_for_a_library_that_is_missing() {
    rows_wait(
        "58P01",
        |cluster, _| {
            reconfigure(cluster, &["rag.onnxruntime_library = '/nonexistent/libonnxruntime.so'"])
        },
        |cluster, _| reconfigure(cluster, &["rag.onnxruntime_library = ''"]),
    );
}

#[test]
fn rows_wait_for_an_executable_that_is_missing() {
    rows_wait(
        "58P01",
        |cluster, _| reconfigure(cluster, &["rag.ragd_path = '/nonexistent/ragd'"]),
        |cluster, _| reconfigure(cluster, &["rag.ragd_path = ''"]),
    );
}

/// Storing chunks fails as it does where there is no room for them.
const FULL_DISK: &str = "
    CREATE FUNCTION no_room() RETURNS trigger LANGUAGE plpgsql AS
        'BEGIN RAISE disk_full USING MESSAGE = ''could not extend file: No space left on device''; END';
    CREATE TRIGGER no_room BEFORE INSERT ON docs_rag_chunks EXECUTE FUNCTION no_room();";

#[test]
fn rows_wait_for_room_on_the_disk() {
    rows_wait(
        "53100",
        |_, client| client.batch_execute(FULL_DISK).unwrap(),
        |_, client| client.batch_execute("DROP FUNCTION no_room CASCADE").unwrap(),
    );
}

/// What is out of order is charged to no row, however often it is tried: with a single attempt, all rows are embedded as
/// soon as it is in order.
fn rows_wait(
    sqlstate: &str,
    bring_down: impl FnOnce(&Cluster, &mut Client),
    repair: impl FnOnce(&Cluster, &mut Client),
) {
    let Some(cluster) = Cluster::start(&["rag.max_attempts = 1"]) else { return };
    let mut client = cluster.connect();
    client.batch_execute(BACKGROUND).unwrap();
    bring_down(&cluster, &mut client);
    let rows = "INSERT INTO docs SELECT i, 'Row number ' || i FROM generate_series(1, 20) AS i";
    client.batch_execute(rows).unwrap();
    let waiting = format!(
        "SELECT count(*) FROM rag.pipeline_status WHERE state = 'waiting for its model'
             AND last_sqlstate = '{sqlstate}' AND last_error IS NOT NULL AND pending_rows = 20"
    );
    assert!(wait_for(|| count(&mut client, &waiting) == 1), "{sqlstate}: nothing waits");
    let failed_at = |client: &mut Client| {
        let time = client.query_one("SELECT last_failed_at::text FROM rag.pipeline_status", &[]);
        time.unwrap().get::<_, String>(0)
    };
    let first = failed_at(&mut client);
    assert!(wait_for(|| failed_at(&mut client) != first), "{sqlstate}: it is not tried again");
    let charged = "SELECT (SELECT count(*) FROM rag.dead_letter)
                        + (SELECT count(*) FROM rag.queue WHERE attempts > 0)";
    assert_eq!(count(&mut client, charged), 0, "{sqlstate}: rows are charged");
    repair(&cluster, &mut client);
    let done = client.query_one("SELECT rag_wait('docs', '5 minutes')", &[]).unwrap();
    assert!(done.get::<_, bool>(0), "{sqlstate}: rows wait after the repair");
    assert_eq!(count(&mut client, "SELECT count(*) FROM docs_rag_chunks"), 20);
    assert_eq!(count(&mut client, charged), 0, "{sqlstate}: rows are charged in the end");
}
