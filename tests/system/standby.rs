//! A hot standby answers questions; it starts a ragd of its own.

use std::sync::Mutex;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;
use std::time::{Duration, Instant};

use postgres::Client;

use super::at_work::{PRIMARY, assert_replayed};
use super::cluster::{Cluster, wait_for};
use super::documents::{SETUP, answer, assert_fails, count, describe, found};
use super::{process, shard_cluster};

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
    let begun = "SELECT count(rag_conversation_continue('How do I reset a password?'))";
    assert_eq!(count(&mut reader, begun), 0);
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

/// Readers of each server.
const READERS: usize = 2;
/// How often each of them asks.
const ROUNDS: usize = 15;
/// The key of the first room; smaller ones are those of the other documents.
const FIRST_ROOM: i32 = 10;

/// Where the write-ahead log of a primary ends, or how far a standby has replayed it, in bytes.
const POSITION: &str =
    "SELECT (coalesce(pg_last_wal_replay_lsn(), pg_current_wal_lsn()) - '0/0'::pg_lsn)::bigint";

/// What nobody has asked before: a question that is known may have been embedded in one batch with others.
const NEW_QUESTIONS: [&str; 3] =
    ["How long are backups kept?", "Where is room 17?", "How can an invoice be paid?"];

/// The rows that are committed on the primary: the key of each, and the [`POSITION`] after its commit.
#[derive(Default)]
struct CommittedRooms(Mutex<Vec<(i32, i64)>>);

impl CommittedRooms {
    /// Adds a row and changes another one, in one transaction.
    fn add(&self, writer: &mut Client) {
        let key = FIRST_ROOM + self.number() as i32;
        let hour = ["two", "three"][self.number() % 2];
        let changes = format!(
            "INSERT INTO docs VALUES ({key}, 'Room', 'Room {key} is on floor {key}.');
             UPDATE docs SET body = 'Backups are made every night at {hour} and are kept for thirty days.'
             WHERE id = 3;"
        );
        writer.batch_execute(&changes).unwrap_or_else(|error| panic!("{}", describe(&error)));
        let position = count(writer, POSITION);
        self.0.lock().unwrap().push((key, position));
    }

    fn number(&self) -> usize {
        self.0.lock().unwrap().len()
    }

    /// The last row that is there for who has replayed the log up to a position, and by how many bytes the last one
    /// of all is further.
    fn last_at(&self, position: i64) -> (i32, i64) {
        let rooms = self.0.lock().unwrap();
        let replayed = rooms.iter().rev().find(|(_, end)| *end <= position);
        let (key, _) = replayed.expect("the first row, which all servers have");
        let behind = rooms.last().map_or(0, |(_, end)| end - position);
        (*key, behind.max(0))
    }
}

/// What a reader has seen of its server.
#[derive(Default)]
struct ReadsUnderLoad {
    /// How long each statement took.
    times: Vec<Duration>,
    /// The most bytes of the log by which the server was behind.
    lag: i64,
}

/// Asks a server for the last row that it has replayed, and for one that it has had from the beginning.
fn read(mut client: Client, rooms: &CommittedRooms, expected: &str) -> ReadsUnderLoad {
    let mut reads = ReadsUnderLoad::default();
    for _ in 0..ROUNDS {
        let (room, behind) = rooms.last_at(count(&mut client, POSITION));
        reads.lag = reads.lag.max(behind);
        let began = Instant::now();
        let is_found = format!(
            "SELECT count(*) FROM rag_retrieve('On which floor is room {room}?', k => 1, mode => 'lexical')
             WHERE source_key = '{room}'"
        );
        assert_eq!(count(&mut client, &is_found), 1, "room {room} is replayed and not found");
        reads.times.push(began.elapsed());
        let began = Instant::now();
        assert_eq!(answer(&mut client), expected);
        reads.times.push(began.elapsed());
    }
    reads
}

/// Has several sessions of each server read while rows come in on the primary; what those of each server saw.
fn read_while_written(
    servers: [&Cluster; 3],
    writer: &mut Client,
    rooms: &CommittedRooms,
    expected: &str,
) -> [ReadsUnderLoad; 3] {
    let sessions: Vec<(usize, Client)> = (0..READERS * servers.len())
        .map(|number| (number % servers.len(), servers[number % servers.len()].connect()))
        .collect();
    let is_read = AtomicBool::new(false);
    let (written, outcomes) = thread::scope(|scope| {
        let write = scope.spawn(|| {
            while !is_read.load(Ordering::SeqCst) {
                rooms.add(writer);
            }
        });
        let readers: Vec<_> = sessions
            .into_iter()
            .map(|(server, client)| (server, scope.spawn(move || read(client, rooms, expected))))
            .collect();
        let outcomes: Vec<_> =
            readers.into_iter().map(|(server, reader)| (server, reader.join())).collect();
        // Also after a reader has failed, or the writer would go on for ever.
        is_read.store(true, Ordering::SeqCst);
        (write.join(), outcomes)
    });
    written.expect("a writer without an error");
    let mut seen: [ReadsUnderLoad; 3] = Default::default();
    for (server, outcome) in outcomes {
        let reads = outcome.expect("a reader without an error");
        seen[server].times.extend(reads.times);
        seen[server].lag = seen[server].lag.max(reads.lag);
    }
    seen
}

/// A row is found on a standby as soon as its commit is replayed there, and in the end all servers find the same.
#[test]
fn two_standbys_under_load_find_what_they_have_replayed() {
    let Some(primary) = Cluster::start(&PRIMARY) else { return };
    let mut writer = primary.connect();
    writer.batch_execute(SETUP).unwrap();
    let standbys = [primary.standby(), primary.standby()];
    let mut readers = standbys.each_ref().map(Cluster::connect);
    let expected = answer(&mut writer);
    let rooms = CommittedRooms::default();
    rooms.add(&mut writer);
    for reader in &mut readers {
        assert_replayed(&mut writer, reader);
    }
    let servers = [&primary, &standbys[0], &standbys[1]];
    let seen = read_while_written(servers, &mut writer, &rooms, &expected);
    println!("{} rows came in", rooms.number());
    for (name, mut reads) in ["primary", "first standby", "second standby"].into_iter().zip(seen) {
        reads.times.sort_unstable();
        let (number, median) = (reads.times.len(), reads.times[reads.times.len() / 2]);
        assert_eq!(number, READERS * ROUNDS * 2, "statements of the {name}");
        println!(
            "{name}: {number} statements, median {:.1} ms, at most {} bytes behind",
            median.as_secs_f64() * 1e3,
            reads.lag
        );
    }
    assert_eq!(count(&mut writer, "SELECT rag_wait('docs', '5 minutes')::int::bigint"), 1);
    let all = format!("SELECT count(*) FROM docs_rag WHERE source_id >= {FIRST_ROOM}");
    for reader in &mut readers {
        assert_replayed(&mut writer, reader);
        assert_eq!(count(reader, &all), rooms.number() as i64, "rooms on a standby");
        for mode in ["dense", "lexical", "hybrid"] {
            for question in NEW_QUESTIONS {
                let on_primary = shard_cluster::found(&mut writer, question, mode, "{}");
                assert!(!on_primary.is_empty(), "{question} {mode}");
                let on_standby = shard_cluster::found(reader, question, mode, "{}");
                assert_eq!(on_standby, on_primary, "{question} {mode}");
            }
        }
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
