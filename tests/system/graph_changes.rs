//! Random changes of a table by several sessions, while workers are ended: in the end its pipeline has the mentions and
//! relations that a fresh one over the same rows has.
//!
//! `PG_RAG_GRAPH_CHANGES` makes it a longer run, and `PG_RAG_GRAPH_SEED` another one.

use std::time::{Duration, Instant};

use postgres::{Client, NoTls};

use super::at_work::number;
use super::cluster::{Cluster, wait_for};
use super::documents::count;
use super::graph::{CREATE_SAYING, SETUP, wait};
use super::process;
use super::random::Random;
use super::token_classifier;

/// Random changes that are made; the setting of the environment makes them more.
const CHANGES: u64 = 200;

/// From so many on some workers are killed by a signal that nobody can catch. PostgreSQL then ends all sessions and recovers,
/// which takes a second or two.
const WITH_CRASHES: u64 = 2000;

/// Of so many times that workers are ended, one is such a crash.
const CRASHES: usize = 20;

/// So often it is tried after the last change to end a worker at its work, where that has not happened yet: on a fast machine
/// all may be done before anybody looks.
const ATTEMPTS: u32 = 200;

/// What texts say, some of it in several ways, and of whom.
const SENTENCES: [&str; 8] = [
    "It is said that Musician Xx met Steve Hillage in 1969. ",
    "Then came Person Xx, who knew nobody. ",
    "It was Gong number Xx, the band of Daevid Allen. ",
    "The World Health Organization (WHO) wrote to Xx, and WHO was right. ",
    "they slept all day. ",
    "# Live in Xx\n\nThe record was made in London. ",
    "We read that Xx is short for nothing. ",
    "Xx, Xx and Xx played with Arzachel. ",
];

/// Mentions by the keys of their rows, which stay the same where chunks are made anew.
const MENTIONS: &str = "
    SELECT coalesce(string_agg(concat_ws(' ', c.source_id, m.norm, m.alias_of, coalesce(m.kind, '-'), m.mentions, m.start_char, m.end_char), ';'
                               ORDER BY c.source_id, c.chunk_no, m.norm), '')
    FROM band_rag_chunks_mentions AS m JOIN band_rag_chunks AS c USING (chunk_id)";

/// What rows say, likewise.
const RELATIONS: &str = "
    SELECT coalesce(string_agg(concat_ws(' ', c.source_id, c.chunk_no, r.subject, r.predicate, r.object), ';'
                               ORDER BY c.source_id, r.predicate, r.subject, r.object), '')
    FROM band_rag_chunks_relations AS r JOIN band_rag_chunks AS c USING (chunk_id)";

/// Random changes of the table `band`, the same for the same seed.
struct Changes<'a> {
    cluster: &'a Cluster,
    random: Random,
    client: Client,
    /// A session whose transaction is open while the first one changes rows, and whether it is.
    other: Client,
    is_open: bool,
}

impl Changes<'_> {
    fn new(cluster: &Cluster) -> Changes<'_> {
        let random = Random(number("PG_RAG_GRAPH_SEED", 1));
        let (client, other) = (cluster.connect(), cluster.connect());
        Changes { cluster, random, client, other, is_open: false }
    }

    /// A key below 200, of a row that is there or not.
    fn key(&mut self) -> usize {
        1 + self.random.below(199)
    }

    fn words(&mut self) -> String {
        let count = self.random.below(5);
        let sentence = |random: &mut Random| {
            let name = format!("Q{}q", random.below(40));
            random.pick(&SENTENCES).replace("Xx", &name)
        };
        (0..count).map(|_| sentence(&mut self.random)).collect()
    }

    fn statement(&mut self) -> String {
        let (key, other, words) = (self.key(), self.key(), self.words());
        match self.random.below(10) {
            0 => format!("DELETE FROM band WHERE id = {key}"),
            1 => format!("DELETE FROM band WHERE id BETWEEN {key} - 3 AND {key}"),
            2 => format!(
                "UPDATE band SET tenant = {other} WHERE id < 200 AND id % 37 = {}",
                key % 37
            ),
            3 => format!("UPDATE band SET tenant = NULL, body = NULL WHERE id = {key}"),
            4 => format!(
                "UPDATE band SET body = body || '{words}' WHERE id = {key} AND length(body) < 2000"
            ),
            5 => format!(
                "UPDATE band SET body = '{words}' || coalesce(body, '') WHERE id = {key} AND length(body) < 2000"
            ),
            // The row becomes another one, unless that is there.
            6 => format!(
                "UPDATE band SET id = {other} WHERE id = {key} AND NOT EXISTS (SELECT FROM band WHERE id = {other})"
            ),
            _ => format!(
                "INSERT INTO band VALUES ({key}, '{words}', {other})
                 ON CONFLICT (id) DO UPDATE SET body = EXCLUDED.body, tenant = EXCLUDED.tenant"
            ),
        }
    }

    /// Changes something: by a statement, by several in a transaction, some of which are undone, or in another session,
    /// which commits later.
    fn make_one(&mut self) {
        let statement = self.statement();
        match self.random.below(8) {
            0 => {
                let (undone, last) = (self.statement(), self.statement());
                let undo = format!("SAVEPOINT here; {undone}; ROLLBACK TO here");
                let all = format!("BEGIN; {statement}; {undo}; {last}; COMMIT");
                self.client.batch_execute(&all).unwrap();
            }
            1 => self.client.batch_execute(&format!("BEGIN; {statement}; ROLLBACK")).unwrap(),
            2 if self.is_open => {
                let end = ["COMMIT", "ROLLBACK"][usize::from(self.random.below(4) == 0)];
                self.other.batch_execute(end).unwrap();
                self.is_open = false;
            }
            2 => {
                // Rows of its own, so that nobody waits for it.
                let (key, words) = (200 + self.random.below(20), self.words());
                let begin = format!(
                    "BEGIN; DELETE FROM band WHERE id = {key}; INSERT INTO band VALUES ({key}, '{words}');
                     UPDATE band SET body = '{words}' || body WHERE id >= 200 AND length(body) < 2000"
                );
                self.other.batch_execute(&begin).unwrap();
                self.is_open = true;
            }
            _ => self.client.batch_execute(&statement).unwrap(),
        }
    }

    /// Changes many rows, and waits until a worker has some of these in hand; false if all was done before that was seen.
    fn has_work_in_hand(&mut self) -> bool {
        let (part, words) = (self.random.below(4), self.words());
        let change = format!(
            "UPDATE band SET body = '{words} ' || coalesce(body, '') WHERE id < 200 AND id % 4 = {part} AND length(body) < 2000"
        );
        self.client.batch_execute(&change).unwrap();
        let in_hand =
            "SELECT count(*) FROM rag.queue WHERE lease > 0 AND rag.is_held(lease, leased_until)";
        let left = "SELECT (SELECT count(*) FROM rag.queue) + (SELECT count(*) FROM rag.intake)";
        let started = Instant::now();
        while count(&mut self.client, left) > 0 {
            if count(&mut self.client, in_hand) > 0 {
                return true;
            }
            assert!(started.elapsed() < Duration::from_secs(300), "nobody goes on");
        }
        false
    }

    /// Ends the workers while one of them has rows in hand, as a fast shutdown does; whether there were any.
    fn end_work(&mut self) -> bool {
        let end = "SELECT count(pg_terminate_backend(pid)) FROM pg_stat_activity WHERE backend_type = 'pg_rag worker'";
        self.has_work_in_hand() && count(&mut self.client, end) > 0
    }

    /// Kills a worker while one has rows in hand, as the kernel does where memory is short, and goes on once the server has
    /// recovered; whether that was a crash. One that was idle may have ended by itself just before.
    fn crash_at_work(&mut self) -> bool {
        if !self.has_work_in_hand() {
            return false;
        }
        let postmaster = self.cluster.postmaster_pid();
        let workers = process::titled(postmaster, "pg_rag worker");
        let Some(worker) = workers.first() else { return false };
        process::signal(*worker, "KILL");
        let is_noticed = || process::parent(*worker) != Some(postmaster);
        assert!(wait_for(is_noticed), "the postmaster does not notice that a worker is gone");
        // After a crash it takes a session only once all that there were have ended.
        let is_up = self.cluster.config("postgres").connect(NoTls).is_ok();
        if is_up && self.client.batch_execute("SELECT 1").is_ok() {
            return false;
        }
        (self.client, self.other) = (self.session(), self.session());
        self.is_open = false;
        true
    }

    /// A session, as soon as the server takes any.
    fn session(&self) -> Client {
        let config = self.cluster.config("postgres");
        let mut session = None;
        let is_back = wait_for(|| {
            session = config.connect(NoTls).ok();
            session.is_some()
        });
        assert!(is_back, "the server does not recover:\n{}", self.cluster.log());
        session.expect("a session")
    }
}

/// How often something was done that has succeeded `before` so often: if never, it is tried again and again until it has.
fn at_least_once(before: u64, mut attempt: impl FnMut() -> bool) -> u64 {
    before + u64::from(before == 0 && (0..ATTEMPTS).any(|_| attempt()))
}

fn text(client: &mut Client, query: &str) -> String {
    client.query_one(query, &[]).expect("a row").get(0)
}

/// Fills the table `band`, over which `create` makes a pipeline, changes rows of it again and again, and compares what the
/// pipeline has in the end with what a fresh one has; its mentions.
fn assert_as_fresh_after_changes(cluster: &Cluster, create: &str, rounds: u64) -> String {
    let mut changes = Changes::new(cluster);
    changes.client.batch_execute(create).unwrap();
    changes
        .client
        .batch_execute(
            "INSERT INTO band SELECT n, 'It is said that Musician ' || chr(65 + n % 26) || 'x met Steve Hillage in ' || (1960 + n % 50)
             FROM generate_series(10, 80) AS n",
        )
        .unwrap();
    let (mut ended, mut crashed) = (0, 0);
    for _ in 0..rounds {
        changes.make_one();
        // Now all is done, and now whoever is at work is ended in the middle of it, and somebody else goes on.
        match changes.random.below(20) {
            0 => wait(&mut changes.client),
            1 => match rounds >= WITH_CRASHES && changes.random.below(CRASHES) == 0 {
                true => crashed += u64::from(changes.crash_at_work()),
                false => ended += u64::from(changes.end_work()),
            },
            _ => {}
        }
    }
    ended = at_least_once(ended, || changes.end_work());
    if rounds >= WITH_CRASHES {
        crashed = at_least_once(crashed, || changes.crash_at_work());
    }
    println!("workers were ended at their work {ended} times, and killed {crashed} times");
    assert!(ended > 0 && (crashed > 0 || rounds < WITH_CRASHES));
    let Changes { mut client, mut other, .. } = changes;
    other.batch_execute("COMMIT").unwrap();
    wait(&mut client);
    let changed = [MENTIONS, RELATIONS].map(|query| text(&mut client, query));
    assert!(changed.iter().all(|it| !it.is_empty()));
    let orphans = "SELECT count(*) FROM band_rag_chunks_mentions AS m
                   WHERE NOT EXISTS (SELECT FROM band_rag_chunks AS c WHERE c.chunk_id = m.chunk_id)";
    assert_eq!(count(&mut client, orphans), 0);
    client.batch_execute("SELECT rag_drop_pipeline('band')").unwrap();
    client.batch_execute(create).unwrap();
    wait(&mut client);
    assert_eq!(changed, [MENTIONS, RELATIONS].map(|query| text(&mut client, query)));
    let [mentions, _] = changed;
    mentions
}

#[test]
fn mentions_and_relations_equal_those_of_a_fresh_build_after_changes() {
    let Some(cluster) = Cluster::start(&[]) else { return };
    cluster.connect().batch_execute(SETUP).unwrap();
    let rounds = number("PG_RAG_GRAPH_CHANGES", CHANGES);
    assert_as_fresh_after_changes(&cluster, CREATE_SAYING, rounds);
}

#[test]
fn names_of_a_model_and_their_kinds_equal_those_of_a_fresh_build_after_changes() {
    let Some(cluster) = Cluster::start(&[]) else { return };
    let folder = cluster.folder().join("names");
    if !token_classifier::make_of_bands(&folder) {
        return;
    }
    cluster.give(&folder);
    let mut client = cluster.connect();
    client.batch_execute(SETUP).unwrap();
    client.execute("SELECT rag_add_model('names', $1)", &[&folder.to_str()]).unwrap();
    let create = CREATE_SAYING.replace(r#""rules""#, r#""ner", "ner_model": "names""#);
    let rounds = number("PG_RAG_GRAPH_CHANGES", CHANGES) / 2;
    let mentions = assert_as_fresh_after_changes(&cluster, &create, rounds);
    for kind in [" PER ", " ORG "] {
        assert!(mentions.contains(kind), "no{kind}in {mentions}");
    }
}
