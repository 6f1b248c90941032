//! ALTER EXTENSION pg_rag UPDATE of a database in use: others ask and write, and rows wait. From a version that is made up, so
//! that there is one before the first release.

use std::collections::BTreeSet;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicI32, Ordering};
use std::thread::{self, JoinHandle};

use postgres::Client;

use super::data::{answers, assert_kept, fill, finish, keep};
use super::earlier::{BROKEN, EARLIER, offer};
use super::{assert_same, catalog};
use crate::cluster::{Cluster, wait_for};
use crate::documents::{QUESTION, assert_fails, count};

const UPDATE: &str = "ALTER EXTENSION pg_rag UPDATE";

/// A server that has the earlier version in a database with data, and a session there.
fn start() -> Option<(Cluster, Client)> {
    let cluster = Cluster::start(&[])?;
    if !offer(&cluster) {
        return None;
    }
    let mut client = cluster.connect();
    fill(&mut client, EARLIER);
    keep(&mut client);
    Some((cluster, client))
}

/// What the present version makes in an empty database.
fn present(cluster: &Cluster) -> BTreeSet<String> {
    cluster.connect().batch_execute("CREATE DATABASE present").unwrap();
    let mut client = cluster.connect_to("present");
    client.batch_execute("CREATE EXTENSION pg_rag CASCADE").unwrap();
    catalog(&mut client)
}

fn version(client: &mut Client) -> String {
    let version = "SELECT extversion FROM pg_extension WHERE extname = 'pg_rag'";
    client.query_one(version, &[]).unwrap().get(0)
}

/// Has workers do what waits for them in the pipeline `news`.
fn finish_news(client: &mut Client) {
    assert_eq!(count(client, "SELECT rag_wait('news', '5 minutes')::int::bigint"), 1);
}

/// A session that adds a row and asks a question, again and again.
struct Reader {
    stop: Arc<AtomicBool>,
    turns: Arc<AtomicI32>,
    session: JoinHandle<()>,
}

impl Reader {
    fn begin(cluster: &Cluster) -> Reader {
        let (stop, turns) = (Arc::new(AtomicBool::new(false)), Arc::new(AtomicI32::new(0)));
        let (client, is_over, done) = (cluster.connect(), Arc::clone(&stop), Arc::clone(&turns));
        let session = thread::spawn(move || read_and_write(client, &is_over, &done));
        Reader { stop, turns, session }
    }

    /// Waits until it has done what it has begun after this call.
    fn assert_goes_on(&self) {
        let before = self.turns.load(Ordering::SeqCst);
        wait_for(|| self.session.is_finished() || self.turns.load(Ordering::SeqCst) > before + 1);
        let after = self.turns.load(Ordering::SeqCst);
        assert!(after > before + 1, "the other session has ended, or waits");
    }

    /// How many rows it has added.
    fn end(self) -> i64 {
        self.stop.store(true, Ordering::SeqCst);
        self.session.join().expect("a session without an error");
        i64::from(self.turns.load(Ordering::SeqCst))
    }
}

fn read_and_write(mut client: Client, is_over: &AtomicBool, done: &AtomicI32) {
    let ask = |client: &mut Client| -> String {
        client.query_one("SELECT rag_answer($1, 'docs')", &[&QUESTION]).unwrap().get(0)
    };
    let expected = ask(&mut client);
    for turn in (1..).take_while(|_| !is_over.load(Ordering::SeqCst)) {
        let body = format!("On day {turn} a ship came into the harbour.");
        client.execute("INSERT INTO news VALUES ($1, $2)", &[&turn, &body]).unwrap();
        assert_eq!(ask(&mut client), expected, "turn {turn}");
        done.store(turn, Ordering::SeqCst);
    }
}

#[test]
fn an_update_loses_nothing_while_others_ask_and_write() {
    let Some((cluster, mut client)) = start() else { return };
    let (expected, answered) = (present(&cluster), answers(&mut client));
    assert_ne!(catalog(&mut client), expected, "the earlier version is the present one");
    let other = Reader::begin(&cluster);
    other.assert_goes_on();
    client.batch_execute("BEGIN").unwrap();
    client.batch_execute(UPDATE).unwrap();
    // Workers wait for the end of the update, and sessions do not.
    other.assert_goes_on();
    client.batch_execute("COMMIT").unwrap();
    other.assert_goes_on();
    let added = other.end();

    assert_same(EARLIER, &catalog(&mut client), &expected);
    assert_eq!(answers(&mut client), answered);
    assert_kept(&mut client);
    finish_news(&mut client);
    let embedded = "SELECT count(*) FROM news JOIN news_rag_chunks AS c ON c.source_id = id AND c.content = body";
    assert_eq!(count(&mut client, embedded), added, "rows that were added meanwhile");
    finish(&mut client);
    // By objects that the earlier version did not have.
    let rated = "SELECT count(*) FROM rag.answer_log WHERE ratings = 2 AND rating = 0.75";
    assert_eq!(count(&mut client, rated), 1, "the ratings before the update and after it");
    let deleted = "SELECT count(*) FROM rag.trace_log WHERE rag_trace_delete(id)";
    assert_eq!(count(&mut client, deleted), 1);
    assert_eq!(count(&mut client, "SELECT count(*) FROM rag.feedback"), 0);
}

#[test]
fn an_update_that_fails_or_is_rolled_back_leaves_everything_as_it_was() {
    let Some((cluster, mut client)) = start() else { return };
    let (expected, answered) = (present(&cluster), answers(&mut client));
    let earlier = catalog(&mut client);
    let mut other = cluster.connect();
    let is_as_before = |client: &mut Client, what: &str| {
        assert_eq!(version(client), EARLIER, "{what}");
        assert_same(what, &catalog(client), &earlier);
        assert_eq!(answers(client), answered, "{what}");
        assert_kept(client);
    };
    is_as_before(&mut other, "before");

    client.batch_execute("BEGIN").unwrap();
    client.batch_execute(UPDATE).unwrap();
    assert_same("within the transaction", &catalog(&mut client), &expected);
    // What the update has changed is locked for others.
    assert_eq!((version(&mut other).as_str(), answers(&mut other)), (EARLIER, answered.clone()));
    client.batch_execute("ROLLBACK").unwrap();
    is_as_before(&mut client, "rolled back");

    assert_fails(&mut client, &format!("{UPDATE}; SELECT 1 / 0"), &["22012"]);
    is_as_before(&mut client, "a later statement of its transaction has failed");

    let broken = format!("{UPDATE} TO '{BROKEN}'");
    assert_fails(&mut client, &broken, &["22012"]);
    is_as_before(&mut client, "the script has failed");

    // A transaction that goes on after it, with a change of a source.
    for step in
        ["BEGIN", "INSERT INTO news VALUES (1, 'The harbour is frozen.')", "SAVEPOINT update"]
    {
        client.batch_execute(step).unwrap();
    }
    assert_fails(&mut client, &broken, &["22012"]);
    client.batch_execute("ROLLBACK TO update; COMMIT").unwrap();
    is_as_before(&mut client, "the script has failed after a savepoint");
    finish_news(&mut client);
    let frozen = "SELECT count(*) FROM news_rag_chunks WHERE content LIKE '%frozen%'";
    assert_eq!(count(&mut client, frozen), 1);

    client.batch_execute(UPDATE).unwrap();
    assert_same("updated", &catalog(&mut client), &expected);
    assert_eq!(answers(&mut other), answered, "in a session from before");
    assert_kept(&mut client);
    finish(&mut other);
}
