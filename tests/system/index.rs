//! The index rag_hnsw in a server that crashes, is busy, is copied, restored and interrupted:
//! its structure stays sound, and it goes on finding what is nearest.

use std::collections::HashSet;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::thread::{self, JoinHandle};
use std::time::{Duration, Instant};

use postgres::{Client, Error, NoTls};

use super::cluster::{Cluster, wait_for};
use super::documents::{count, describe};
use super::process;

/// Vectors that lie like those of texts: clusters, in them a few directions that matter, and
/// noise. The same number gives the same vector everywhere.
const VECTORS: &str = "
    CREATE EXTENSION pg_rag CASCADE;
    CREATE FUNCTION noise(place bigint) RETURNS float8
    LANGUAGE sql IMMUTABLE PARALLEL SAFE AS $$
        SELECT hashint8extended(place, 1)::float8 / 9223372036854775808.0::float8
    $$;
    CREATE FUNCTION embedding(number bigint) RETURNS vector
    LANGUAGE sql IMMUTABLE PARALLEL SAFE AS $$
        SELECT array_agg(sin(x * 0.7 + phase) + sin(x * 1.9 + phase * 2.3) + sin(x * 2.8 + phase * 3.1)
                         + 0.6 * (a * sin(x * 0.3) + b * cos(x * 1.1) + c * sin(x * 2.3))
                         + 0.2 * noise(number * 64 + d) ORDER BY d)::vector
        FROM (SELECT (number % 37)::float8 * 0.61 AS phase, noise(-3 * number) AS a,
                     noise(-3 * number - 1) AS b, noise(-3 * number - 2) AS c) AS drawn,
             (SELECT d, d::float8 AS x FROM generate_series(1, 64) AS d) AS places
    $$;
    CREATE TABLE items (id bigint PRIMARY KEY, v vector(64));
    CREATE TABLE questions (id bigint PRIMARY KEY, v vector(64));
    INSERT INTO questions SELECT i, embedding(1000000 + i) FROM generate_series(1, 100) AS i;";

/// The index that the tests ask.
const INDEX: &str = "CREATE INDEX items_v ON items USING rag_hnsw (v vector_l2_ops);";

/// Only the index gives the order, and it looks at enough to find nearly everything.
const BY_INDEX: &str = "
    SET enable_seqscan = off; SET enable_sort = off; SET enable_bitmapscan = off;
    SET rag_hnsw.ef_search = 100; SET jit = off;";

/// The order comes from sorting all rows.
const BY_TABLE: &str = "
    SET enable_indexscan = off; SET enable_seqscan = on; SET enable_sort = on; SET jit = off;";

/// Back to where a session begins.
const BY_CHOICE: &str = "RESET ALL;";

/// The ten nearest of each question.
const NEAREST: &str = "
    SELECT q.id, n.id FROM questions AS q
    CROSS JOIN LATERAL (SELECT i.id FROM items AS i ORDER BY i.v <-> q.v LIMIT 10) AS n";

/// Rows that are not found by their own vector.
const LOST: &str = "
    SELECT count(*) FROM items AS i
    WHERE i.id IS DISTINCT FROM (SELECT n.id FROM items AS n ORDER BY n.v <-> i.v LIMIT 1)";

/// Share of the nearest that an index must find.
const RECALL: f64 = 0.95;

/// What an interrupt may take.
const LIMIT: Duration = Duration::from_secs(1);

/// Rows of the table whose build, scan and VACUUM take long enough to be interrupted.
const MANY: i64 = 30_000;

/// Adds the rows from one number to another.
fn insert(client: &mut Client, first: i64, last: i64) -> Result<u64, Error> {
    let rows = "INSERT INTO items SELECT i, embedding(i) FROM generate_series($1::bigint, $2::bigint) AS i";
    client.execute(rows, &[&first, &last])
}

/// A number from the environment.
fn number(name: &str, otherwise: u64) -> u64 {
    let value = std::env::var(name).ok().filter(|value| !value.is_empty());
    value.map_or(otherwise, |value| value.parse().unwrap_or_else(|_| panic!("{name}={value}")))
}

/// What [`NEAREST`] finds, in its order.
fn nearest(client: &mut Client) -> Vec<(i64, i64)> {
    let rows = client.query(NEAREST, &[]).unwrap_or_else(|error| panic!("{}", describe(&error)));
    rows.iter().map(|row| (row.get(0), row.get(1))).collect()
}

/// Share of the ten nearest that the index finds.
fn recall(client: &mut Client) -> f64 {
    client.batch_execute(BY_TABLE).unwrap();
    let exact = nearest(client);
    client.batch_execute(BY_CHOICE).unwrap();
    client.batch_execute(BY_INDEX).unwrap();
    assert_plan(client, NEAREST);
    let found: HashSet<(i64, i64)> = nearest(client).into_iter().collect();
    client.batch_execute(BY_CHOICE).unwrap();
    assert!(!exact.is_empty(), "nothing to find");
    exact.iter().filter(|pair| found.contains(pair)).count() as f64 / exact.len() as f64
}

/// Asserts that a query has its order from the index.
fn assert_plan(client: &mut Client, query: &str) {
    let rows = client.query(&format!("EXPLAIN (COSTS OFF) {query}"), &[]).unwrap();
    let lines: Vec<String> = rows.iter().map(|row| row.get(0)).collect();
    let plan = lines.join("\n");
    assert!(plan.contains("Index Scan using items_v") && plan.contains("Order By:"), "{plan}");
}

/// Asserts that an index's pages say what they should.
fn assert_sound(client: &mut Client, index: &str, when: &str) {
    let check = "SELECT p::text FROM rag_hnsw_check($1::text::regclass) AS p LIMIT 20";
    let problems = client.query(check, &[&index]).unwrap_or_else(|error| {
        panic!("{index} cannot be checked {when}: {}", describe(&error));
    });
    let problems: Vec<String> = problems.iter().map(|row| row.get(0)).collect();
    assert!(problems.is_empty(), "{index} {when}: {problems:#?}");
}

/// Asserts that the index finds the rows by their own vectors, but for one in a thousand at
/// most: the search is approximate. Gives their number.
fn assert_all_found(client: &mut Client, when: &str) -> i64 {
    client.batch_execute(BY_INDEX).unwrap();
    assert_plan(client, LOST);
    let lost = count(client, LOST);
    client.batch_execute(BY_CHOICE).unwrap();
    let rows = count(client, "SELECT count(*) FROM items");
    assert!(lost <= rows / 1000, "{lost} of {rows} rows are not found {when}");
    rows
}

fn size(client: &mut Client) -> i64 {
    count(client, "SELECT pg_relation_size('items_v')")
}

#[test]
fn a_crash_loses_nothing() {
    let settings = ["autovacuum = off", "checkpoint_timeout = 30s", "max_wal_size = 128MB"];
    let Some(mut cluster) = Cluster::start(&settings) else { return };
    let mut client = cluster.connect();
    client.batch_execute(&format!("{VECTORS} {INDEX} {UNLOGGED}")).unwrap();
    insert(&mut client, 1, 500).unwrap();
    drop(client);
    let done = Arc::new(AtomicUsize::new(0));
    for crash in 0..number("PG_RAG_CRASHES", 6) {
        let signal = ["QUIT", "KILL"][crash as usize % 2];
        // From a fifth of a second to two, and no two crashes at the same place.
        let moment = Duration::from_millis(200 + crash * 619 % 1800);
        crash_at_work(&mut cluster, signal, moment, &done);
        let started = Instant::now();
        cluster.boot();
        let boot = started.elapsed();
        let rows = assert_recovered(&mut cluster.connect(), &format!("after crash {crash}"));
        println!(
            "crash {crash} by {signal} after {} ms: {rows} rows, {} changes so far, up in {} ms",
            moment.as_millis(),
            done.load(Ordering::SeqCst),
            boot.as_millis()
        );
    }
    assert!(done.load(Ordering::SeqCst) > 10, "nothing was changed");
}

/// A table that a crash empties.
const UNLOGGED: &str = "
    CREATE UNLOGGED TABLE fleeting (id bigint, v vector(64));
    CREATE INDEX fleeting_v ON fleeting USING rag_hnsw (v vector_l2_ops);";

/// Ends the server while two sessions change the table and build indexes.
fn crash_at_work(cluster: &mut Cluster, signal: &str, moment: Duration, done: &Arc<AtomicUsize>) {
    let crashing = Arc::new(AtomicBool::new(false));
    // Even numbers for one session and odd ones for the other.
    let unused = "SELECT 2 * (max(id) / 2 + 1) FROM items";
    let unused = count(&mut cluster.connect(), unused);
    let sessions: Vec<JoinHandle<()>> = (0..2)
        .map(|session| {
            let (client, done) = (cluster.connect(), Arc::clone(done));
            let (crashing, first) = (Arc::clone(&crashing), unused + session);
            thread::spawn(move || change_until(client, first, &crashing, &done))
        })
        .collect();
    thread::sleep(moment);
    crashing.store(true, Ordering::SeqCst);
    match signal {
        "KILL" => kill(cluster),
        _ => cluster.stop(signal),
    }
    sessions.into_iter().for_each(|session| session.join().unwrap());
}

/// Kills the server with all its processes and waits until they, and with them the shared
/// memory, are gone.
fn kill(cluster: &mut Cluster) {
    let postmaster = cluster.postmaster_pid();
    // Stopped, it starts no child that the list would lack.
    process::signal(postmaster, "STOP");
    thread::sleep(Duration::from_millis(10));
    let children = process::children(postmaster, "postgres");
    cluster.stop("KILL");
    // A child that computes would go on until it waits for something.
    children.iter().for_each(|child| process::signal(*child, "KILL"));
    let gone = wait_for(|| children.iter().all(|child| !process::is_alive(*child)));
    assert!(gone, "a process outlives the postmaster");
}

/// Changes the table until the server crashes; new rows have the numbers `next`, `next + 2`
/// and so on. An error before the crash is a defect.
fn change_until(mut client: Client, mut next: i64, crashing: &AtomicBool, done: &AtomicUsize) {
    for turn in 0.. {
        if let Err(error) = change_once(&mut client, turn, &mut next) {
            assert!(crashing.load(Ordering::SeqCst), "turn {turn}: {}", describe(&error));
            return;
        }
        done.fetch_add(1, Ordering::SeqCst);
    }
}

/// One change: mostly of rows, now and then VACUUM, and in the session with odd numbers a
/// build. A session deletes only rows with numbers like its own.
fn change_once(client: &mut Client, turn: i64, next: &mut i64) -> Result<(), Error> {
    let (session, rows) = (*next % 2, [1, 7, 40][turn as usize % 3]);
    let insert = "INSERT INTO items SELECT i, embedding(i) FROM generate_series($1::bigint, $2::bigint, 2) AS i";
    let delete = "DELETE FROM items WHERE id IN
        (SELECT id FROM items WHERE id % 2 = $1 ORDER BY hashint8(id + $2) LIMIT $3)";
    match (turn % 12, session) {
        (0..=5, _) => {
            client.execute(insert, &[&*next, &(*next + 2 * (rows - 1))])?;
            *next += 2 * rows;
        }
        (6..=8, _) => {
            let surplus = count_rows(client, session)? - KEPT;
            client.execute(delete, &[&session, &turn, &surplus.max(rows)])?;
        }
        (9, _) => client.batch_execute("VACUUM items")?,
        (10, 1) => client.batch_execute("REINDEX INDEX CONCURRENTLY items_v")?,
        (11, 1) => client.batch_execute(BUILDS[turn as usize / 12 % BUILDS.len()])?,
        _ => client.batch_execute("INSERT INTO fleeting SELECT id, v FROM items LIMIT 5")?,
    }
    Ok(())
}

/// Rows of a session beyond which it deletes more than it inserts.
const KEPT: i64 = 600;

/// Builds, mostly of an index beside the one that is asked.
const BUILDS: [&str; 4] = [
    "CREATE INDEX items_v2 ON items USING rag_hnsw (v vector_cosine_ops)",
    "REINDEX INDEX items_v2",
    "DROP INDEX items_v2",
    "REINDEX INDEX items_v",
];

fn count_rows(client: &mut Client, session: i64) -> Result<i64, Error> {
    let rows = "SELECT count(*) FROM items WHERE id % 2 = $1";
    Ok(client.query_one(rows, &[&session])?.get(0))
}

/// All indexes are sound, each row is found, and the work can go on. The number of rows.
fn assert_recovered(client: &mut Client, when: &str) -> i64 {
    let indexes = "SELECT i.indexrelid::regclass::text, i.indisready, i.indisvalid
        FROM pg_index AS i JOIN pg_class AS c ON c.oid = i.indexrelid
        JOIN pg_am AS a ON a.oid = c.relam WHERE a.amname = 'rag_hnsw' ORDER BY 1";
    let mut valid_indexes = Vec::new();
    for row in client.query(indexes, &[]).unwrap() {
        let (index, ready, valid): (String, bool, bool) = (row.get(0), row.get(1), row.get(2));
        // REINDEX CONCURRENTLY leaves an empty file behind if it has not begun to build.
        if ready {
            assert_sound(client, &index, when);
        }
        // What a build left behind, or what the next turns would build again.
        if !valid || index == "items_v2" {
            client.batch_execute(&format!("DROP INDEX {index}")).unwrap();
        } else {
            valid_indexes.push(index);
        }
    }
    assert_eq!(valid_indexes, ["fleeting_v", "items_v"], "{when}");
    assert_eq!(count(client, "SELECT count(*) FROM fleeting"), 0, "unlogged rows {when}");
    client.batch_execute("INSERT INTO fleeting SELECT id, v FROM questions LIMIT 20").unwrap();
    assert_sound(client, "fleeting_v", when);
    let rows = assert_all_found(client, when);
    client.batch_execute("VACUUM items").unwrap();
    assert_sound(client, "items_v", &format!("{when} and VACUUM"));
    rows
}

#[test]
fn churn_does_no_harm() {
    let Some(cluster) = Cluster::start(&[]) else { return };
    let mut client = cluster.connect();
    client.batch_execute(&format!("{VECTORS} {INDEX}")).unwrap();
    insert(&mut client, 1, 2000).unwrap();
    let end = Instant::now() + Duration::from_secs(number("PG_RAG_CHURN_SECONDS", 20));
    let sessions: Vec<JoinHandle<[usize; 5]>> = (0..SESSIONS)
        .map(|session| {
            let client = cluster.connect();
            thread::spawn(move || churn_until(client, session, end))
        })
        .collect();
    let mut sum = [0; 5];
    for session in sessions {
        let tally = session.join().expect("a session without an error");
        sum.iter_mut().zip(tally).for_each(|(total, number)| *total += number);
    }
    let [inserts, deletes, vacuums, builds, searches] = sum;
    let rows = count(&mut client, "SELECT count(*) FROM items");
    assert_sound(&mut client, "items_v", "after churn");
    let share = recall(&mut client);
    println!(
        "churn: {inserts} inserts, {deletes} deletes, {vacuums} VACUUM, {builds} REINDEX \
         CONCURRENTLY, {searches} searches; {rows} rows in the end, recall {share:.4}"
    );
    assert!(sum.iter().all(|number| *number > 0), "something was never done: {sum:?}");
    assert!(share >= RECALL, "recall {share}");
    assert_all_found(&mut client, "after churn");
}

const SESSIONS: i64 = 4;

/// Works until the time is over: inserts, deletes, VACUUMs, builds and searches that were done.
fn churn_until(mut client: Client, session: i64, end: Instant) -> [usize; 5] {
    client.batch_execute(BY_INDEX).unwrap();
    let mut tally = [0; 5];
    for turn in (0..).take_while(|_| Instant::now() < end) {
        // One session builds: two builds at once of one index would wait for each other.
        let what = match turn % 20 {
            0..=7 => 0,
            8 | 9 => 1,
            10 => 2,
            11 if session == 0 => 3,
            _ => 4,
        };
        churn_once(&mut client, session, turn, what)
            .unwrap_or_else(|error| panic!("session {session}, turn {turn}: {}", describe(&error)));
        tally[what] += 1;
    }
    tally
}

fn churn_once(client: &mut Client, session: i64, turn: i64, what: usize) -> Result<(), Error> {
    let first = 10_000 + (turn * SESSIONS + session) * 10;
    match what {
        0 => insert(client, first, first + turn % 10).map(drop),
        1 => {
            let delete = "DELETE FROM items WHERE id / 10 % $1 = $2 AND hashint8(id + $3) % 32 = 0";
            client.execute(delete, &[&SESSIONS, &session, &turn]).map(drop)
        }
        2 => client.batch_execute("VACUUM items"),
        3 => client.batch_execute("REINDEX INDEX CONCURRENTLY items_v"),
        _ => {
            let search = "SELECT id FROM items ORDER BY v <-> (SELECT v FROM questions WHERE id = $1) LIMIT 10";
            let found = client.query(search, &[&(1 + (turn * 7 + session) % 100)])?;
            assert_eq!(found.len(), 10, "rows found in turn {turn}");
            Ok(())
        }
    }
}

#[test]
fn deletion_costs_no_recall() {
    let Some(cluster) = Cluster::start(&["autovacuum = off"]) else { return };
    let mut client = cluster.connect();
    client.batch_execute(&format!("{VECTORS} {INDEX}")).unwrap();
    insert(&mut client, 1, 8000).unwrap();
    let before = recall(&mut client);
    client.batch_execute("DELETE FROM items WHERE id % 4 <> 0").unwrap();
    let dead = recall(&mut client);
    let started = Instant::now();
    client.batch_execute("VACUUM items").unwrap();
    let vacuum = started.elapsed();
    assert_sound(&mut client, "items_v", "after VACUUM");
    let after = recall(&mut client);
    println!(
        "75 % deleted: recall {before:.4}, {dead:.4} before and {after:.4} after VACUUM of {} ms",
        vacuum.as_millis()
    );
    assert!(before >= RECALL, "recall {before}");
    assert!(after >= before - 0.01, "recall fell from {before} to {after}");
    assert_eq!(assert_all_found(&mut client, "after VACUUM"), 2000);
}

#[test]
fn a_standby_finds_what_the_primary_finds() {
    let settings = [
        "wal_level = replica",
        "wal_keep_size = 512MB",
        // Read by the standby: it waits for its queries and cancels none.
        "max_standby_streaming_delay = -1",
    ];
    let Some(primary) = Cluster::start(&settings) else { return };
    let mut writer = primary.connect();
    writer.batch_execute(&format!("{VECTORS} {INDEX}")).unwrap();
    insert(&mut writer, 1, 2000).unwrap();
    let standby = primary.standby();
    let stop = Arc::new(AtomicBool::new(false));
    let readers: Vec<JoinHandle<usize>> = (0..2)
        .map(|_| {
            let (client, stop) = (standby.connect(), Arc::clone(&stop));
            thread::spawn(move || read_until(client, &stop))
        })
        .collect();
    for round in 1..=5 {
        write_round(&mut writer, round);
    }
    stop.store(true, Ordering::SeqCst);
    let reads: usize = readers.into_iter().map(|reader| reader.join().unwrap()).sum();
    assert_replayed(&mut writer, &mut standby.connect());
    assert_alike(&mut writer, &mut standby.connect());
    println!("standby: {reads} reads of 100 questions while the primary wrote");
    assert!(reads > 0, "the standby was not asked");
}

/// Asks a standby until it is told to stop; how often. Any error is a defect.
fn read_until(mut client: Client, stop: &AtomicBool) -> usize {
    client.batch_execute(BY_INDEX).unwrap();
    assert_plan(&mut client, NEAREST);
    let mut reads = 0;
    while !stop.load(Ordering::SeqCst) {
        assert_eq!(nearest(&mut client).len(), 1000, "rows found by the standby");
        reads += 1;
    }
    reads
}

/// Inserts row by row, deletes, vacuums, fills the gaps, and once builds anew.
fn write_round(client: &mut Client, round: i64) {
    for id in 0..100 {
        insert(client, round * 10_000 + id, round * 10_000 + id).unwrap();
    }
    insert(client, round * 10_000 + 100, round * 10_000 + 700).unwrap();
    client.execute("DELETE FROM items WHERE hashint8(id + $1) % 3 = 0", &[&round]).unwrap();
    client.batch_execute("VACUUM items").unwrap();
    insert(client, round * 10_000 + 1000, round * 10_000 + 1300).unwrap();
    if round == 3 {
        client.batch_execute("REINDEX INDEX CONCURRENTLY items_v").unwrap();
    }
}

/// Waits until the standby has all that the primary wrote.
fn assert_replayed(primary: &mut Client, standby: &mut Client) {
    let written: String =
        primary.query_one("SELECT pg_current_wal_lsn()::text", &[]).unwrap().get(0);
    let replayed = format!("SELECT (pg_last_wal_replay_lsn() >= '{written}'::pg_lsn)::int::bigint");
    assert!(wait_for(|| count(standby, &replayed) == 1), "the standby does not follow");
}

/// Both have the same index and find the same with it.
fn assert_alike(primary: &mut Client, standby: &mut Client) {
    assert_sound(primary, "items_v", "on the primary");
    assert_sound(standby, "items_v", "on the standby");
    for client in [&mut *primary, &mut *standby] {
        client.batch_execute(BY_INDEX).unwrap();
        assert_plan(client, NEAREST);
    }
    assert_eq!(nearest(primary), nearest(standby), "primary and standby differ");
}

#[test]
fn slow_work_on_an_index_is_interrupted() {
    let Some(cluster) = Cluster::start(&["autovacuum = off", "max_wal_size = 4GB"]) else { return };
    let mut client = cluster.connect();
    // Without the primary key, so that VACUUM's only index is the one in question.
    let bare = "ALTER TABLE items DROP CONSTRAINT items_pkey;";
    client.batch_execute(&format!("{VECTORS} {bare}")).unwrap();
    insert(&mut client, 1, MANY).unwrap();
    for memory in ["64MB", "1MB"] {
        let build = format!("{} WITH (m = 32, ef_construction = 400)", INDEX.trim_end_matches(';'));
        client.batch_execute(&format!("SET maintenance_work_mem = '{memory}'")).unwrap();
        interrupt(&cluster, &mut client, &format!("build in {memory}"), (&build, BUILDING));
        let left = "SELECT count(*) FROM pg_class WHERE relname LIKE 'items\\_v%'";
        assert_eq!(count(&mut client, left), 0, "a cancelled build left something");
    }
    client.batch_execute("SET maintenance_work_mem = '256MB'").unwrap();
    client.batch_execute(INDEX).unwrap();
    interrupt_scan(&cluster, &mut client);
    interrupt_insert(&cluster, &mut client);
    interrupt_vacuum(&cluster, &mut client);
    assert!(recall(&mut client) >= RECALL, "recall in the end");
}

/// A build, a VACUUM or a statement marked as slow is at work.
const BUILDING: &str =
    "SELECT count(*) FROM pg_stat_progress_create_index WHERE relid = 'items'::regclass";
const VACUUMING: &str = "SELECT count(*) FROM pg_stat_progress_vacuum
    WHERE relid = 'items'::regclass AND phase = 'vacuuming indexes'";
const RUNNING: &str = "SELECT count(*) FROM pg_stat_activity
    WHERE state = 'active' AND query LIKE '%/* slow */%' AND pid <> pg_backend_pid()";

/// A statement to cancel.
struct Slow<'a> {
    statement: &'a str,
    /// Counts something as soon as the statement is where it is to be cancelled,
    begun: &'static str,
    /// and this much later it is.
    later: Duration,
}

/// Cancels a statement half a second after it has begun, which it must survive, and asserts
/// that this takes effect at once.
fn interrupt(cluster: &Cluster, client: &mut Client, what: &str, slow: (&str, &'static str)) {
    let (statement, begun) = slow;
    let slow = Slow { statement, begun, later: Duration::from_millis(500) };
    let took = cancelled(cluster, client, &slow);
    let took = took.unwrap_or_else(|| panic!("{what} had ended before it was cancelled"));
    println!("{what}: cancel acts after {} ms", took.as_millis());
    assert!(took < LIMIT, "{what}: cancel took {took:?}");
}

/// How long a statement went on after its cancel; `None` where it had ended before.
fn cancelled(cluster: &Cluster, client: &mut Client, slow: &Slow) -> Option<Duration> {
    let (token, mut observer) = (client.cancel_token(), cluster.connect());
    let (begun, later) = (slow.begun, slow.later);
    let over = Arc::new(AtomicBool::new(false));
    let is_over = Arc::clone(&over);
    let canceller = thread::spawn(move || {
        while !is_over.load(Ordering::SeqCst) && count(&mut observer, begun) == 0 {
            thread::sleep(Duration::from_millis(1));
        }
        thread::sleep(later);
        let asked = Instant::now();
        token.cancel_query(NoTls).expect("to ask for a cancel");
        asked
    });
    let result = client.batch_execute(slow.statement);
    let ended = Instant::now();
    over.store(true, Ordering::SeqCst);
    let asked = canceller.join().unwrap();
    let error = describe(&result.err()?);
    assert!(error.starts_with("57014"), "{error}");
    Some(ended.saturating_duration_since(asked))
}

fn interrupt_scan(cluster: &Cluster, client: &mut Client) {
    client.batch_execute(BY_INDEX).unwrap();
    // Each scan gives all rows, nearest first: the cancel comes in the middle of one.
    let scans =
        "/* slow */ SELECT count(n.id) FROM questions AS q CROSS JOIN generate_series(1, 100)
        CROSS JOIN LATERAL (SELECT i.id FROM items AS i ORDER BY i.v <-> q.v OFFSET 100) AS n";
    assert_plan(client, scans);
    interrupt(cluster, client, "scan", (scans, RUNNING));
    client.batch_execute(BY_CHOICE).unwrap();
}

fn interrupt_insert(cluster: &Cluster, client: &mut Client) {
    // Vectors that are there already, so that the time goes into the index.
    let rows = "/* slow */ INSERT INTO items SELECT -id, v FROM items, generate_series(1, 100)";
    interrupt(cluster, client, "insert", (rows, RUNNING));
    let rows = count(client, "SELECT count(*) FROM items");
    assert_eq!(rows, MANY, "rows of a cancelled insert");
    assert_sound(client, "items_v", "after a cancelled insert");
    client.batch_execute("VACUUM items").unwrap();
    assert_sound(client, "items_v", "after a cancelled insert and VACUUM");
}

fn interrupt_vacuum(cluster: &Cluster, client: &mut Client) {
    let mut times = 0;
    for (attempt, later) in [100, 30, 0].into_iter().enumerate() {
        let portion = format!("DELETE FROM items WHERE hashint8(id + {attempt}) % 3 = 0");
        client.batch_execute(&portion).unwrap();
        let later = Duration::from_millis(later);
        let vacuum = Slow { statement: "VACUUM items", begun: VACUUMING, later };
        match cancelled(cluster, client, &vacuum) {
            Some(took) => {
                times += 1;
                println!("VACUUM: cancel acts after {} ms", took.as_millis());
                assert!(took < LIMIT, "VACUUM: cancel took {took:?}");
            }
            None => println!("VACUUM had ended before it was cancelled"),
        }
        assert_sound(client, "items_v", "after a cancelled VACUUM");
    }
    assert!(times > 0, "no VACUUM was cancelled");
    client.batch_execute("VACUUM items").unwrap();
    assert_sound(client, "items_v", "after the last VACUUM");
}

#[test]
fn a_dump_brings_the_index_back() {
    let Some(cluster) = Cluster::start(&[]) else { return };
    let mut before = cluster.connect();
    let options = "
        CREATE INDEX items_v ON items USING rag_hnsw (v vector_l2_ops)
            WITH (m = 24, ef_construction = 96, storage = float16);
        CREATE INDEX items_half ON items
            USING rag_hnsw ((v::halfvec(64)) halfvec_cosine_ops) WHERE id % 2 = 0;";
    before.batch_execute(&format!("{VECTORS} {options}")).unwrap();
    insert(&mut before, 1, 2000).unwrap();
    before.batch_execute("CREATE DATABASE restored").unwrap();
    let dump = cluster.run("pg_dump", &["-h", &cluster.socket(), "-U", "postgres", "postgres"]);
    cluster.psql("restored", &dump);
    let mut after = cluster.connect_to("restored");
    assert_eq!(definitions(&mut after), definitions(&mut before));
    assert_sound(&mut after, "items_v", "after the restore");
    assert_sound(&mut after, "items_half", "after the restore");
    let share = recall(&mut after);
    println!("restored: recall {share:.4}");
    assert!(share >= RECALL, "recall {share}");
    insert(&mut after, 2001, 2100).unwrap();
    assert_eq!(assert_all_found(&mut after, "after the restore"), 2100);
    assert_sound(&mut after, "items_v", "after the restore and more rows");
}

/// The indexes as statements.
fn definitions(client: &mut Client) -> Vec<String> {
    let indexes = "SELECT indexdef FROM pg_indexes WHERE tablename = 'items' ORDER BY indexname";
    client.query(indexes, &[]).unwrap().iter().map(|row| row.get(0)).collect()
}

#[test]
fn deleted_rows_give_their_room_back() {
    let Some(cluster) = Cluster::start(&["autovacuum = off"]) else { return };
    let mut client = cluster.connect();
    client.batch_execute(VECTORS).unwrap();
    insert(&mut client, 1, 5000).unwrap();
    client.batch_execute(INDEX).unwrap();
    let before = size(&mut client);
    for cycle in 1..=3 {
        client.batch_execute("DELETE FROM items").unwrap();
        client.batch_execute("VACUUM items").unwrap();
        // Room may be given back only when no older transaction can be looking at it.
        client.batch_execute("SELECT pg_current_xact_id()").unwrap();
        for first in (0..5000).step_by(500) {
            insert(&mut client, cycle * 5000 + first + 1, cycle * 5000 + first + 500).unwrap();
        }
        let ratio = size(&mut client) as f64 / before as f64;
        println!("cycle {cycle}: {ratio:.3} of the {before} bytes after the build");
        assert!(ratio <= 1.02, "the index grew to {ratio} of its size");
        assert_sound(&mut client, "items_v", "after all rows were replaced");
    }
    let share = recall(&mut client);
    println!("all rows replaced three times: recall {share:.4}");
    assert!(share >= RECALL, "recall {share}");
    assert_all_found(&mut client, "after all rows were replaced");
}
