//! Replies about communities that are kept: with what they go, and who sees them.

use std::thread;

use postgres::Client;

use super::cluster::{Cluster, wait_for};
use super::communities::{KEPT, WALKED, asked, tell, wait_until, with_reader};
use super::documents::{assert_fails, count};
use super::http_server::Server;

/// A column of the source as metadata of the chunks.
const WITH_TENANT: &str = "
    SELECT rag_drop_pipeline('story');
    SELECT rag_create_pipeline('story', 'body', metadata => '{tenant}',
        options => '{\"graph\": {\"entities\": \"rules\"}, \"communities\": {}}')";

#[test]
fn a_reply_goes_with_what_its_chunks_have_shown() {
    let Some(cluster) = Cluster::start(&[]) else { return };
    let http = Server::answer(tell);
    let mut client = cluster.connect();
    with_reader(&mut client, &http);
    client.batch_execute(WITH_TENANT).unwrap();
    wait_until(&mut client, |client| {
        count(client, "SELECT count(*) FROM story_rag_chunks_communities WHERE level = 0") == 12
    });
    assert_eq!(asked(&mut client, &http, WALKED).1, 3);
    // Nothing that they speak of has changed, so nothing goes.
    look_through(&mut client);
    assert_eq!(count(&mut client, KEPT), 3);
    let chunk = "SELECT chunk_id FROM story_rag_chunks WHERE source_id = 1";
    let before = count(&mut client, chunk);
    client.batch_execute("UPDATE story SET tenant = 7 WHERE id = 1").unwrap();
    // The other community has been answered from as before.
    wait_until(&mut client, |client| count(client, KEPT) == 1);
    assert_eq!(count(&mut client, chunk), before);
    asked(&mut client, &http, WALKED);
    assert!(count(&mut client, KEPT) > 1);
    client.batch_execute("ALTER TABLE story DROP COLUMN tenant").unwrap();
    assert_eq!(count(&mut client, KEPT), 0);
}

/// Has communities looked through because of a row that no reply speaks of.
fn look_through(client: &mut Client) {
    let row =
        "INSERT INTO story VALUES (100, 'It is told that Zora Zandt walked with Yara Zandt.', 0)";
    client.batch_execute(row).unwrap();
    let chunk = "SELECT count(*) FROM story_rag_chunks WHERE source_id = 100";
    wait_until(client, |client| count(client, chunk) == 1);
}

#[test]
fn a_reply_goes_whose_chunk_was_being_written_when_it_was_read() {
    let Some(cluster) = Cluster::start(&[]) else { return };
    let http = Server::answer(tell);
    let (mut client, mut other) = (cluster.connect(), cluster.connect());
    with_reader(&mut client, &http);
    // The transaction is older than the question and ends after it.
    let write = "UPDATE story_rag_chunks SET content = content WHERE source_id = 1";
    other.batch_execute(&format!("BEGIN; {write}")).unwrap();
    assert_eq!(asked(&mut client, &http, WALKED).1, 3);
    other.batch_execute("COMMIT").unwrap();
    look_through(&mut client);
    wait_until(&mut client, |client| count(client, KEPT) == 1);
}

#[test]
fn no_reply_outlives_a_pipeline_that_is_dropped_while_it_is_asked() {
    let Some(cluster) = Cluster::start(&[]) else { return };
    let http = Server::answer(tell);
    let (mut client, mut other) = (cluster.connect(), cluster.connect());
    let mut observer = cluster.connect();
    with_reader(&mut client, &http);
    client.batch_execute("BEGIN").unwrap();
    assert_eq!(asked(&mut client, &http, WALKED).1, 3);
    let drop_it = "SELECT rag_drop_pipeline('story')";
    let dropping = thread::spawn(move || other.batch_execute(drop_it));
    let waits = format!(
        "SELECT count(*) FROM pg_stat_activity WHERE wait_event_type = 'Lock' AND query = '{}'",
        drop_it.replace('\'', "''")
    );
    assert!(wait_for(|| count(&mut observer, &waits) == 1), "nobody waits");
    client.batch_execute("COMMIT").unwrap();
    dropping.join().unwrap().unwrap();
    assert_eq!(count(&mut observer, KEPT), 0);
    assert_eq!(count(&mut observer, "SELECT count(*) FROM rag.pipeline"), 0);
}

#[test]
fn replies_are_shown_to_nobody() {
    let Some(cluster) = Cluster::start(&[]) else { return };
    let http = Server::answer(tell);
    let mut client = cluster.connect();
    with_reader(&mut client, &http);
    asked(&mut client, &http, WALKED);
    client
        .batch_execute(
            "CREATE ROLE auditor; GRANT pg_read_all_data, pg_write_all_data TO auditor; SET ROLE auditor",
        )
        .unwrap();
    assert_eq!(count(&mut client, KEPT), 0);
    let written = "INSERT INTO rag.kept_reply (pipeline, prompt, writer, chunks, seen_until, reply) VALUES (1, '', '', '{}', 0, 'x')";
    assert_fails(&mut client, written, &["42501"]);
    client.batch_execute("DELETE FROM rag.kept_reply; RESET ROLE").unwrap();
    assert_eq!(count(&mut client, KEPT), 3);
    // Their owner deletes them, and nobody else does.
    client.batch_execute("SET ROLE reader").unwrap();
    assert_fails(&mut client, "SELECT rag_forget_replies('story')", &["42501", "must be owner"]);
    client.batch_execute("RESET ROLE").unwrap();
    assert_eq!(count(&mut client, "SELECT rag_forget_replies('story')"), 3);
    assert_eq!(count(&mut client, KEPT), 0);
}

#[test]
fn old_replies_give_way_to_new_ones() {
    let Some(cluster) = Cluster::start(&[]) else { return };
    let http = Server::answer(tell);
    let mut client = cluster.connect();
    with_reader(&mut client, &http);
    asked(&mut client, &http, WALKED);
    // And those of another pipeline.
    client
        .batch_execute(
            "INSERT INTO rag.kept_reply (pipeline, prompt, writer, chunks, seen_until, reply)
             SELECT pipeline + 1000, prompt, writer, chunks, seen_until, reply FROM rag.kept_reply;
             UPDATE rag.kept_reply SET written_at = now() - interval '31 days'",
        )
        .unwrap();
    assert_eq!(asked(&mut client, &http, WALKED).1, 3);
    let others = "SELECT count(*) FROM rag.kept_reply WHERE pipeline > 1000";
    assert_eq!((count(&mut client, KEPT), count(&mut client, others)), (6, 3));
    // Those of other pipelines wait for a worker, so that no session waits for this one.
    client.batch_execute("UPDATE story SET body = body || ' The end.' WHERE id = 1").unwrap();
    wait_until(&mut client, |client| count(client, others) == 0);
}

#[test]
fn what_cannot_or_must_not_be_kept_is_answered() {
    let Some(cluster) = Cluster::start(&[]) else { return };
    let http = Server::answer(tell);
    let mut client = cluster.connect();
    with_reader(&mut client, &http);
    client
        .batch_execute(
            "ALTER TABLE rag.kept_reply ADD CONSTRAINT none CHECK (reply = '') NOT VALID",
        )
        .unwrap();
    assert_eq!(asked(&mut client, &http, WALKED).1, 3);
    assert_eq!(count(&mut client, KEPT), 0);
    client.batch_execute("ALTER TABLE rag.kept_reply DROP CONSTRAINT none").unwrap();
    client.batch_execute("ALTER SERVER writer OPTIONS (ADD redact 'pii')").unwrap();
    assert_eq!(asked(&mut client, &http, WALKED).1, 3);
    assert_eq!((asked(&mut client, &http, WALKED).1, count(&mut client, KEPT)), (3, 0));
}
