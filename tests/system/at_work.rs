//! Servers at work, for the tests of both index access methods: sessions that change a table at
//! once, crashes in the middle of it, cancels, and a standby that reads along.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::thread::{self, JoinHandle};
use std::time::{Duration, Instant};

use postgres::{Client, Error};

use super::cluster::{Cluster, wait_for};
use super::documents::{count, describe};

/// A number from the environment.
pub fn number(name: &str, otherwise: u64) -> u64 {
    let value = std::env::var(name).ok().filter(|value| !value.is_empty());
    value.map_or(otherwise, |value| value.parse().unwrap_or_else(|_| panic!("{name}={value}")))
}

/// Sessions that churn.
pub const SESSIONS: i64 = 4;

/// What a churning session does once; in this order they are counted.
#[derive(Clone, Copy)]
pub enum Turn {
    Insert,
    Delete,
    Vacuum,
    Rebuild,
    Search,
}

/// Does one thing: in which session, in which of its turns.
pub type Work = fn(&mut Client, Turn, i64, i64) -> Result<(), Error>;

/// Has sessions work until the time is over and all was done; how often each thing was. Any error
/// is a defect.
pub fn churn(cluster: &Cluster, work: Work) -> [usize; 5] {
    let end = Instant::now() + Duration::from_secs(number("PG_RAG_CHURN_SECONDS", 20));
    let sessions: Vec<JoinHandle<[usize; 5]>> = (0..SESSIONS)
        .map(|session| {
            let client = cluster.connect();
            thread::spawn(move || churn_until(client, work, session, end))
        })
        .collect();
    let mut sum = [0; 5];
    for session in sessions {
        let tally = session.join().expect("a session without an error");
        sum.iter_mut().zip(tally).for_each(|(total, number)| *total += number);
    }
    assert!(sum.iter().all(|number| *number > 0), "something was never done: {sum:?}");
    sum
}

fn churn_until(mut client: Client, work: Work, session: i64, end: Instant) -> [usize; 5] {
    let mut tally = [0; 5];
    for number in (0..).take_while(|number| *number < 20 || Instant::now() < end) {
        // One session builds: two builds at once of one index would wait for each other.
        let turn = match number % 20 {
            0..=7 => Turn::Insert,
            8 | 9 => Turn::Delete,
            10 => Turn::Vacuum,
            11 if session == 0 => Turn::Rebuild,
            _ => Turn::Search,
        };
        work(&mut client, turn, session, number).unwrap_or_else(|error| {
            panic!("session {session}, turn {number}: {}", describe(&error));
        });
        tally[turn as usize] += 1;
    }
    tally
}

/// Makes one change in its turn; new rows have the numbers `next`, `next + 2` and so on.
pub type Change = fn(&mut Client, i64, &mut i64) -> Result<(), Error>;

/// A table that two sessions change while the server crashes.
pub struct Crashing {
    /// Gives an even number that no row has yet.
    pub unused: &'static str,
    /// What they do.
    pub change: Change,
}

/// Crashes the server again and again; `assert_recovered` looks each time, and gives the number of
/// rows.
pub fn crash_again_and_again(
    cluster: &mut Cluster,
    crashing: &Crashing,
    mut assert_recovered: impl FnMut(&mut Client, &str) -> i64,
) {
    let done = Arc::new(AtomicUsize::new(0));
    for number in 0..number("PG_RAG_CRASHES", 6) {
        let signal = ["QUIT", "KILL"][number as usize % 2];
        // From a fifth of a second to two, and no two crashes at the same place.
        let moment = Duration::from_millis(200 + number * 619 % 1800);
        crash_at_work(cluster, crashing, (signal, moment), &done);
        let started = Instant::now();
        cluster.boot();
        let boot = started.elapsed();
        let crash = format!("crash {number} by {signal} after {} ms", moment.as_millis());
        let rows = assert_recovered(&mut cluster.connect(), &format!("after {crash}"));
        println!(
            "{crash}: {rows} rows, {} changes so far, up in {} ms",
            done.load(Ordering::SeqCst),
            boot.as_millis()
        );
    }
    assert!(done.load(Ordering::SeqCst) > 10, "nothing was changed");
}

/// Ends the server while two sessions are at work.
fn crash_at_work(
    cluster: &mut Cluster,
    work: &Crashing,
    (signal, moment): (&str, Duration),
    done: &Arc<AtomicUsize>,
) {
    let crashing = Arc::new(AtomicBool::new(false));
    // Even numbers for one session and odd ones for the other.
    let unused = count(&mut cluster.connect(), work.unused);
    let sessions: Vec<JoinHandle<()>> = (0..2)
        .map(|session| {
            let (client, done) = (cluster.connect(), Arc::clone(done));
            let (crashing, first, change) = (Arc::clone(&crashing), unused + session, work.change);
            thread::spawn(move || change_until(client, change, first, &crashing, &done))
        })
        .collect();
    thread::sleep(moment);
    crashing.store(true, Ordering::SeqCst);
    match signal {
        "KILL" => cluster.kill(),
        _ => cluster.stop(signal),
    }
    sessions.into_iter().for_each(|session| session.join().unwrap());
}

/// Changes the table until the server crashes. An error before the crash is a defect.
fn change_until(
    mut client: Client,
    change: Change,
    mut next: i64,
    crashing: &AtomicBool,
    done: &AtomicUsize,
) {
    for turn in 0.. {
        if let Err(error) = change(&mut client, turn, &mut next) {
            assert!(crashing.load(Ordering::SeqCst), "turn {turn}: {}", describe(&error));
            return;
        }
        done.fetch_add(1, Ordering::SeqCst);
    }
}

/// What an interrupt may take where the machine is busy: what is not interrupted takes far longer.
const LIMIT: Duration = Duration::from_secs(30);

/// Counts statements marked as slow that are at work.
pub const RUNNING: &str = "SELECT count(*) FROM pg_stat_activity
    WHERE state = 'active' AND query LIKE '%/* slow */%' AND pid <> pg_backend_pid()";

/// A statement to cancel.
pub struct Slow<'a> {
    /// The statement.
    pub statement: &'a str,
    /// Counts something as soon as the statement is where it is to be cancelled,
    pub begun: &'static str,
    /// and so many milliseconds later it is.
    pub later: u64,
}

/// Asserts that a cancel took effect at once.
pub fn assert_soon(what: &str, took: Option<Duration>) {
    let took = took.unwrap_or_else(|| panic!("{what} had ended before it was cancelled"));
    println!("{what}: cancel acts after {} ms", took.as_millis());
    assert!(took < LIMIT, "{what}: cancel took {took:?}");
}

/// How long a statement went on after its cancel; `None` where it had ended before.
pub fn cancelled(cluster: &Cluster, client: &mut Client, slow: &Slow) -> Option<Duration> {
    let mut canceller = cluster.canceller(client);
    let (begun, later) = (slow.begun, Duration::from_millis(slow.later));
    let over = Arc::new(AtomicBool::new(false));
    let is_over = Arc::clone(&over);
    let canceller = thread::spawn(move || {
        while !is_over.load(Ordering::SeqCst) && count(canceller.observer(), begun) == 0 {
            thread::sleep(Duration::from_millis(1));
        }
        thread::sleep(later);
        canceller.cancel()
    });
    let result = client.batch_execute(slow.statement);
    let ended = Instant::now();
    over.store(true, Ordering::SeqCst);
    let asked = canceller.join().unwrap();
    let Err(error) = result else {
        // The cancel is on its way, and finds this.
        let _ = client.batch_execute("SELECT pg_sleep(0.5)");
        return None;
    };
    let error = describe(&error);
    assert!(error.starts_with("57014"), "{error}");
    Some(ended.saturating_duration_since(asked))
}

/// Settings of a primary.
pub const PRIMARY: [&str; 4] = [
    "wal_level = replica",
    // Nothing is to change between a look at the one and a look at the other.
    "autovacuum = off",
    "wal_keep_size = 512MB",
    // Read by the standby: it waits for its queries and cancels none.
    "max_standby_streaming_delay = -1",
];

/// Has two sessions of a standby read with `read` while `write` is done; how often they did.
pub fn read_meanwhile(standby: &Cluster, read: fn(&mut Client), write: impl FnOnce()) -> usize {
    let stop = Arc::new(AtomicBool::new(false));
    let readers: Vec<JoinHandle<usize>> = (0..2)
        .map(|_| {
            let (mut client, stop) = (standby.connect(), Arc::clone(&stop));
            thread::spawn(move || {
                let mut reads = 0;
                while !stop.load(Ordering::SeqCst) {
                    read(&mut client);
                    reads += 1;
                }
                reads
            })
        })
        .collect();
    write();
    stop.store(true, Ordering::SeqCst);
    let reads = readers.into_iter().map(|reader| reader.join().unwrap()).sum();
    assert!(reads > 0, "the standby was not asked");
    reads
}

/// Waits until the standby has all that the primary wrote.
pub fn assert_replayed(primary: &mut Client, standby: &mut Client) {
    let written: String =
        primary.query_one("SELECT pg_current_wal_lsn()::text", &[]).unwrap().get(0);
    let replayed = format!("SELECT (pg_last_wal_replay_lsn() >= '{written}'::pg_lsn)::int::bigint");
    assert!(wait_for(|| count(standby, &replayed) == 1), "the standby does not follow");
}
