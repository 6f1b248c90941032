//! A hot standby answers questions; it starts a ragd of its own.

use super::cluster::{Cluster, wait_for};
use super::documents::{SETUP, answer, assert_fails, count, found};
use super::process;

#[test]
fn a_standby_answers() {
    let Some(primary) = Cluster::start(&["wal_level = replica"]) else { return };
    let mut writer = primary.connect();
    writer.batch_execute(SETUP).unwrap();
    let standby = primary.standby();
    let mut reader = standby.connect();
    assert_eq!(count(&mut reader, "SELECT pg_is_in_recovery()::int::bigint"), 1);
    let length = "SELECT vector_dims(rag_embed('a text'))::bigint";
    assert_eq!(count(&mut reader, length), count(&mut writer, length));
    assert_eq!(found(&mut reader), found(&mut writer));
    assert_eq!(answer(&mut reader), answer(&mut writer));
    let ragds = [&primary, &standby].map(|cluster| process::ragd(cluster.postmaster_pid()));
    assert!(ragds[0].is_some() && ragds[1].is_some() && ragds[0] != ragds[1], "{ragds:?}");
    for statement in [
        "SELECT rag_create_pipeline('docs', 'title', 'titles')",
        "SELECT rag_drop_pipeline('docs')",
        "SELECT rag_drop_model('all-minilm-l6-v2')",
        "SELECT rag_conversation()",
        "SELECT rag_feedback(gen_random_uuid(), 1)",
        "SELECT rag_eval_floors('help', '{}')",
        "SELECT rag_template_set('mine', '[[user]] {{ question }}')",
    ] {
        assert_fails(&mut reader, statement, &["25006", "read-only transaction"]);
    }
    // What cannot be kept is answered all the same.
    reader.batch_execute("SET rag.trace = 'full'").unwrap();
    let kept = "SELECT count(trace_id) FROM rag_answer_details('How do I reset a password?')";
    assert_eq!(count(&mut reader, kept), 0);
    let steps = "SELECT count(*) FROM rag_explain('How do I reset a password?')";
    assert!(count(&mut reader, steps) > 3);
    writer
        .batch_execute("INSERT INTO docs VALUES (4, 'Parking', 'Visitors park behind the mill.')")
        .unwrap();
    let parking = "SELECT count(*) FROM rag_retrieve('Where do visitors park?', k => 1) \
                   WHERE source_key = '4'";
    assert!(wait_for(|| count(&mut reader, parking) == 1), "a new row does not reach the standby");
}

/// Reads are spread over two standbys while rows come in on the primary; how far behind they are is printed.
#[test]
fn two_standbys_answer_while_rows_come_in() {
    let Some(primary) = Cluster::start(&["wal_level = replica"]) else { return };
    let mut writer = primary.connect();
    writer.batch_execute(SETUP).unwrap();
    let standbys = [primary.standby(), primary.standby()];
    let mut readers = standbys.each_ref().map(Cluster::connect);
    let expected = answer(&mut writer);
    let mut most = 0.0_f64;
    for number in 10..40 {
        let insert = format!(
            "INSERT INTO docs VALUES ({number}, 'Room', 'Room {number} is on floor {number}.')"
        );
        writer.batch_execute(&insert).unwrap();
        let reader = &mut readers[number % 2];
        assert_eq!(answer(reader), expected);
        let lag = "SELECT coalesce(extract(epoch FROM now() - pg_last_xact_replay_timestamp()), 0)::float8";
        most = most.max(reader.query_one(lag, &[]).unwrap().get(0));
    }
    println!("largest lag of two standbys under load: {most:.3} s");
    let last =
        "SELECT count(*) FROM rag_retrieve('On which floor is room 39?', k => 1, mode => 'lexical')
                WHERE source_key = '39'";
    for reader in &mut readers {
        assert!(wait_for(|| count(reader, last) == 1), "the last row does not reach a standby");
    }
}

/// A worker would wait in its slot until recovery has ended.
#[test]
fn who_waits_on_a_standby_starts_no_workers() {
    let settings = ["wal_level = replica", "rag.max_workers = 0"];
    let Some(primary) = Cluster::start(&settings) else { return };
    let mut writer = primary.connect();
    writer
        .batch_execute(
            "CREATE EXTENSION pg_rag CASCADE;
             CREATE TABLE docs (id integer PRIMARY KEY, body text);
             SELECT rag_create_pipeline('docs', 'body');
             INSERT INTO docs VALUES (1, 'It waits for a worker.');",
        )
        .unwrap();
    let standby = primary.standby();
    standby.configure(&["rag.max_workers = 1", "log_min_messages = debug1"]);
    standby.reload();
    let mut reader = standby.connect();
    assert_eq!(count(&mut reader, "SELECT rag_wait('docs', '100 ms')::int::bigint"), 0);
    let started = "registering background worker \"pg_rag worker\"";
    assert!(!standby.log().contains(started), "{}", standby.log());
    // Where one is started, that is how the log says so.
    primary.configure(&["rag.max_workers = 1", "log_min_messages = debug1"]);
    primary.reload();
    assert_eq!(count(&mut writer, "SELECT rag_wait('docs', '5 minutes')::int::bigint"), 1);
    assert!(primary.log().contains(started), "{}", primary.log());
}
