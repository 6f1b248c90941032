//! ragd hangs: it is killed and started again by itself, whoever waits gets what was asked for, and what
//! hangs each time is not asked for ever.

use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::process::Command;
use std::thread;
use std::time::{Duration, Instant};

use postgres::Client;

use super::cluster::{Cluster, wait_for};
use super::documents::{SETUP, assert_fails, count, describe, found, prose};
use super::endless_model;
use super::http_server::{Reply, Server};
use super::outage::reconfigure;
use super::{process, provider};

/// What the setting is here, where nobody is to wait for long.
const TIMEOUT: Duration = Duration::from_secs(2);
const SETTING: &str = "rag.ragd_heartbeat_timeout = 2s";

/// Stops ragd by a signal, so that it hangs.
fn stop(cluster: &Cluster) -> u32 {
    let ragd = process::ragd(cluster.postmaster_pid()).expect("ragd");
    process::signal(ragd, "STOP");
    ragd
}

/// Waits until there is another ragd than one that hung.
fn wait_for_another(cluster: &Cluster, old: u32) {
    let is_another = || process::ragd(cluster.postmaster_pid()).is_some_and(|ragd| ragd != old);
    assert!(wait_for(is_another), "no other ragd:\n{}", cluster.log());
    assert!(!process::is_alive(old), "two of them");
    let said = format!("ragd (PID {old}) hangs and is killed: ");
    assert!(cluster.log().contains(&said), "not a word of it:\n{}", cluster.log());
}

/// Runs a statement in a session of its own, and stops ragd as soon as the session waits for it.
fn stopped_during(cluster: &Cluster, statement: &str) -> (Client, u32) {
    let mut observer = cluster.connect();
    let mut client = cluster.connect();
    let backend: i32 = client.query_one("SELECT pg_backend_pid()", &[]).unwrap().get(0);
    let waits = format!(
        "SELECT count(*) FROM pg_stat_activity
         WHERE pid = {backend} AND state = 'active' AND wait_event_type = 'Extension'"
    );
    let statement = statement.to_owned();
    let call = thread::spawn(move || {
        let result = client.batch_execute(&statement).map_err(|error| describe(&error));
        (result, client)
    });
    assert!(wait_for(|| call.is_finished() || count(&mut observer, &waits) == 1), "nobody waits");
    let ragd = stop(cluster);
    let (result, client) = call.join().unwrap();
    assert_eq!(result, Ok(()), "the call:\n{}", cluster.log());
    (client, ragd)
}

/// Texts that take a while to be embedded.
fn texts() -> String {
    let texts: Vec<String> = (0..256).map(|seed| format!("'{}'", prose(seed, 30))).collect();
    texts.join(",")
}

#[test]
fn stopped_while_nobody_asks() {
    let Some(cluster) = Cluster::start(&[SETTING]) else { return };
    let mut client = cluster.connect();
    client.batch_execute(SETUP).unwrap();
    let ragd = stop(&cluster);
    wait_for_another(&cluster, ragd);
    assert_eq!(found(&mut client)[0], "1");
}

#[test]
fn stopped_while_a_session_waits() {
    let Some(cluster) = Cluster::start(&[SETTING]) else { return };
    cluster.connect().batch_execute(SETUP).unwrap();
    let embed =
        format!("CREATE TEMP TABLE made AS SELECT rag_embed_batch(ARRAY[{}]) AS vectors", texts());
    let (mut client, ragd) = stopped_during(&cluster, &embed);
    wait_for_another(&cluster, ragd);
    assert_eq!(count(&mut client, "SELECT cardinality(vectors)::bigint FROM made"), 256);
    let same = format!(
        "SELECT round(1000 * (vectors[8] <=> rag_embed('{}', kind => 'passage')))::bigint FROM made",
        prose(7, 30)
    );
    assert!(count(&mut client, &same) <= 30, "another vector");

    // It hangs before it is asked: what is sent to it waits for the next.
    let expected = "SELECT rag_embed('Is anybody there?')::text";
    let before: String = cluster.connect().query_one(expected, &[]).unwrap().get(0);
    stop(&cluster);
    let after = client
        .query_one("SELECT rag_embed('Is anybody there?') <=> $1::text::vector < 0.01", &[&before]);
    assert!(after.unwrap().get::<_, bool>(0), "another vector");
}

#[test]
fn stopped_while_an_insert_waits() {
    let Some(cluster) = Cluster::start(&[SETTING]) else { return };
    cluster.connect().batch_execute(SETUP).unwrap();
    let rows = (0..128).map(|seed| format!("({}, 'x', '{}')", seed + 10, prose(seed, 30)));
    let insert = format!("INSERT INTO docs VALUES {}", rows.collect::<Vec<_>>().join(","));
    let (mut client, ragd) = stopped_during(&cluster, &insert);
    wait_for_another(&cluster, ragd);
    assert_eq!(count(&mut client, "SELECT count(*) FROM docs"), 131);
    let embedded =
        "SELECT count(DISTINCT source_id) FROM docs_rag_chunks WHERE embedding IS NOT NULL";
    assert_eq!(count(&mut client, embedded), 131);
    assert_eq!(found(&mut client)[0], "1");
}

#[test]
fn stopped_before_a_worker_embeds() {
    let Some(cluster) = Cluster::start(&[SETTING]) else { return };
    let mut client = cluster.connect();
    client
        .batch_execute(
            "CREATE EXTENSION pg_rag CASCADE;
             CREATE TABLE docs (id integer PRIMARY KEY, body text);
             INSERT INTO docs VALUES (0, 'The first row.');
             SELECT rag_create_pipeline('docs', 'body');",
        )
        .unwrap();
    let ragd = stop(&cluster);
    let insert = "INSERT INTO docs SELECT n, 'Row number ' || n FROM generate_series(1, 50) AS n";
    client.batch_execute(insert).expect("a commit that waits for no model");
    let done = client.query_one("SELECT rag_wait('docs', '5 minutes')", &[]).unwrap();
    assert!(done.get::<_, bool>(0), "the rows wait:\n{}", cluster.log());
    wait_for_another(&cluster, ragd);
    assert_eq!(count(&mut client, "SELECT count(DISTINCT source_id) FROM docs_rag_chunks"), 51);
    assert_eq!(count(&mut client, "SELECT count(*) FROM rag.dead_letter"), 0);
}

#[test]
fn stopped_during_a_call_that_costs() {
    let Some(cluster) = Cluster::start(&[SETTING]) else { return };
    let slow = Server::play([Reply::chat("too late").delay(Duration::from_secs(60))]);
    let mut client = cluster.connect();
    client.batch_execute(&format!("{SETUP} {}", provider::server("slow", &slow))).unwrap();
    let call = thread::spawn(move || {
        let result = client.batch_execute("SELECT rag_generate('Hello', 'slow')");
        result.map_err(|error| describe(&error))
    });
    assert!(wait_for(|| slow.requests().len() == 1), "the provider was not asked");
    let ragd = stop(&cluster);
    let error = call.join().unwrap().unwrap_err();
    assert!(error.starts_with("08006 ragd went away during the call"), "{error}");
    assert!(error.contains("repeat the statement"), "{error}");
    assert_eq!(slow.requests().len(), 1, "the provider was asked twice");
    wait_for_another(&cluster, ragd);
}

#[test]
fn a_reload_changes_the_limit() {
    let Some(cluster) = Cluster::start(&["rag.ragd_heartbeat_timeout = 0"]) else { return };
    let mut client = cluster.connect();
    client.batch_execute(SETUP).unwrap();
    let ragd = stop(&cluster);
    assert!(wait_for(|| process::is_stopped(ragd)), "ragd goes on");
    cluster.configure(&[SETTING]);
    cluster.reload();
    wait_for_another(&cluster, ragd);
    assert_eq!(found(&mut client)[0], "1");
}

/// Embedding takes all processors for several times the limit.
#[test]
fn who_is_busy_does_not_hang() {
    let Some(cluster) = Cluster::start(&[SETTING]) else { return };
    let mut client = cluster.connect();
    client.batch_execute(SETUP).unwrap();
    let ragd = process::ragd(cluster.postmaster_pid());
    let embed = format!("SELECT rag_embed_batch(ARRAY[{}])", texts());
    let begun = Instant::now();
    while begun.elapsed() < 4 * TIMEOUT {
        client.batch_execute(&embed).unwrap();
    }
    assert_eq!(process::ragd(cluster.postmaster_pid()), ragd, "another ragd:\n{}", cluster.log());
    assert!(!cluster.log().contains("hangs and is killed"), "{}", cluster.log());
}

/// An executable that is no ragd, and never listens.
#[test]
fn one_that_never_listens_hangs() {
    let Some(cluster) = Cluster::start(&[SETTING]) else { return };
    let mut client = cluster.connect();
    client.batch_execute("CREATE EXTENSION pg_rag CASCADE").unwrap();
    let path = cluster.folder().join("sleeper");
    fs::write(&path, "#!/bin/sh\nexec sleep 100000\n").unwrap();
    fs::set_permissions(&path, fs::Permissions::from_mode(0o755)).unwrap();
    cluster.give(&path);
    let setting = format!("rag.ragd_path = '{}'", path.display());
    reconfigure(&cluster, &[&setting, "rag.ragd_start_timeout = 100"]);
    let call = "SELECT rag_embed('is anybody there?')";
    assert_fails(&mut client, call, &["57P03", "ragd did not start within 100 ms"]);
    let says =
        |cluster: &Cluster| cluster.log().contains("hangs and is killed: it has not answered");
    assert!(wait_for(|| says(&cluster)), "it is left alone:\n{}", cluster.log());
    reconfigure(&cluster, &["rag.ragd_path = ''", "rag.ragd_start_timeout = 60000"]);
    client.batch_execute(call).expect("the call after the repair");
}

/// Says that ragd has hung during a call and its repetition.
const HUNG: [&str; 3] =
    ["08006 ragd went away during the call", "2 times", "rag.ragd_heartbeat_timeout"];

/// The library is a pipe that nobody writes to: loading it never ends.
#[test]
fn a_load_that_stands_still_fails_after_two_attempts() {
    let Some(cluster) = Cluster::start(&[SETTING]) else { return };
    let mut client = cluster.connect();
    client.batch_execute("CREATE EXTENSION pg_rag CASCADE").unwrap();
    let library = cluster.folder().join("libonnxruntime.so");
    assert!(Command::new("mkfifo").arg(&library).status().expect("mkfifo").success());
    cluster.give(&library);
    let setting = format!("rag.onnxruntime_library = '{}'", library.display());
    reconfigure(&cluster, &[&setting]);
    let call = "SELECT rag_embed('is anybody there?')";
    assert_fails(&mut client, call, &HUNG);
    let log = cluster.log();
    assert!(log.contains("the loading of model \"all-minilm-l6-v2\" has stood still"), "{log}");
    reconfigure(&cluster, &["rag.onnxruntime_library = ''"]);
    client.batch_execute(call).expect("the call after the repair");
}

/// A model that computes without end for one word: who asks for it gets an error, and in the background
/// its row is given up, and no other.
#[test]
fn a_text_on_which_ragd_hangs_is_given_up() {
    let settings = ["rag.ragd_heartbeat_timeout = 500ms", "rag.max_attempts = 1"];
    let Some(cluster) = Cluster::start(&settings) else { return };
    let folder = cluster.folder().join("endless");
    if !endless_model::make(&folder) {
        return;
    }
    cluster.give(&folder);
    let mut client = cluster.connect();
    client.batch_execute("CREATE EXTENSION pg_rag CASCADE").unwrap();
    client.query("SELECT rag_add_model('loop', $1)", &[&folder.to_str()]).unwrap();
    client.batch_execute("SELECT rag_embed('a text', 'loop')").unwrap();
    assert_fails(&mut client, "SELECT rag_embed('an endless text', 'loop')", &HUNG);
    let log = cluster.log();
    assert!(log.contains("a batch of model \"loop\" has"), "{log}");

    client
        .batch_execute(
            "CREATE TABLE docs (id integer PRIMARY KEY, body text);
             SELECT rag_create_pipeline('docs', 'body', model => 'loop', chunking => '{\"max_tokens\": 32}');",
        )
        .unwrap();
    let rows = "INSERT INTO docs VALUES (1, 'The first row.'), (2, 'An endless row.')";
    client.batch_execute(rows).unwrap();
    let given_up = "SELECT count(*) FROM rag.dead_letter WHERE sqlstate = '08006'";
    assert!(wait_for(|| count(&mut client, given_up) == 1), "it is not:\n{}", cluster.log());
    let done = client.query_one("SELECT rag_wait('docs', '5 minutes')", &[]).unwrap();
    assert!(done.get::<_, bool>(0), "the other one waits:\n{}", cluster.log());
    assert_eq!(count(&mut client, "SELECT min(source_id)::bigint FROM docs_rag_chunks"), 1);
    assert_eq!(count(&mut client, "SELECT count(*) FROM docs_rag_chunks"), 1);
}
