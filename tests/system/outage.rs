//! Something that ragd needs is missing: the error says what, and once it is there the next
//! call works.

use super::cluster::{Cluster, wait_for};
use super::documents::{SETUP, answer, assert_fails};
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
fn reconfigure(cluster: &Cluster, settings: &[&str]) {
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
