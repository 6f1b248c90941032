//! Any process is killed while sessions change tables of every kind: in the end each pipeline has the
//! chunks that a fresh pipeline over the same rows has, and nothing is left over.
//!
//! `PG_RAG_KILLS` makes it a longer run, and `PG_RAG_SEED` another one.

use std::collections::BTreeMap;
use std::path::PathBuf;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::thread::{self, JoinHandle};

use postgres::{Config, Error, NoTls};

use super::super::at_work::number;
use super::super::cluster::wait_for;
use super::super::documents::prose;
use super::super::index::HALF_INSERTED;
use super::super::process;
use super::*;

const SESSIONS: u64 = 6;

/// A table that is changed, what its key is as SQL, and how its pipeline is made.
struct Source {
    name: &'static str,
    columns: &'static str,
    key: &'static str,
    options: &'static str,
}

const SOURCES: [Source; 4] = [
    Source { name: "plain", columns: "PRIMARY KEY (id)", key: "source_id", options: "" },
    Source {
        name: "embedded_at_once",
        columns: "PRIMARY KEY (id)",
        key: "source_id",
        options: ", refresh => 'sync'",
    },
    Source {
        name: "of_two_columns",
        columns: "PRIMARY KEY (part, id)",
        key: "source_part, source_id",
        options: "",
    },
    Source {
        name: "partitioned",
        columns: "PRIMARY KEY (part, id)",
        key: "source_part, source_id",
        options: "",
    },
];

/// Who is ended in which way, in the order of its weight: a crash has all sessions begin anew.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum Kill {
    Ragd,
    Worker,
    Session,
    Supervisor,
    WorkerCrash,
    SessionCrash,
    Server,
}

const KILLS: [Kill; 12] = [
    Kill::Ragd,
    Kill::Worker,
    Kill::Session,
    Kill::Ragd,
    Kill::Supervisor,
    Kill::Worker,
    Kill::WorkerCrash,
    Kill::Session,
    Kill::Ragd,
    Kill::SessionCrash,
    Kill::Supervisor,
    Kill::Server,
];

/// Numbers that only look random: the same seed gives the same ones.
struct Dice(u64);

impl Dice {
    fn below(&mut self, limit: u64) -> u64 {
        self.0 =
            self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (self.0 >> 33) % limit
    }
}

/// What the sessions and the killer know of each other.
struct Shared {
    socket: PathBuf,
    is_over: AtomicBool,
    changes: AtomicUsize,
}

#[test]
fn whoever_is_killed_the_chunks_are_those_of_a_fresh_pipeline() {
    let Some(mut cluster) = Cluster::start(&["deadlock_timeout = 100ms"]) else { return };
    let mut client = cluster.connect();
    run(&mut client, "CREATE EXTENSION pg_rag CASCADE");
    SOURCES.iter().for_each(|source| create(&mut client, source, source.name));
    drop(client);
    let seed = number("PG_RAG_SEED", 1);
    let shared = Arc::new(Shared {
        socket: cluster.folder().to_owned(),
        is_over: AtomicBool::new(false),
        changes: AtomicUsize::new(0),
    });
    let sessions: Vec<JoinHandle<BTreeMap<String, usize>>> = (0..SESSIONS)
        .map(|session| {
            let shared = Arc::clone(&shared);
            thread::spawn(move || change_until_over(&shared, session, seed))
        })
        .collect();
    let killed = kill_again_and_again(&mut cluster, &shared, seed);
    shared.is_over.store(true, Ordering::SeqCst);
    let mut failures = BTreeMap::new();
    for session in sessions {
        for (why, times) in session.join().expect("a session") {
            *failures.entry(why).or_insert(0) += times;
        }
    }
    println!(
        "chaos with seed {seed}: {killed:?}, {} changes, failed: {failures:#?}",
        shared.changes.load(Ordering::SeqCst)
    );
    let mut client = cluster.connect();
    SOURCES.iter().for_each(|source| assert_as_fresh(&mut client, source));
    for table in ["queue", "intake", "dead_letter"] {
        assert_none(&mut client, &format!("SELECT t::text FROM rag.{table} AS t"));
    }
    SOURCES.iter().for_each(|source| assert_indexes_are_sound(&mut client, source));
    assert_nothing_is_left(&cluster);
}

/// A table of this kind, and a pipeline over it.
fn create(client: &mut Client, source: &Source, name: &str) {
    let Source { columns, options, .. } = source;
    let partitioned = source.name == "partitioned";
    let by = if partitioned { "PARTITION BY LIST (part)" } else { "" };
    run(
        client,
        &format!(
            "CREATE TABLE {name} (part integer, id integer, body text, lang text, {columns}) {by}"
        ),
    );
    if partitioned {
        for part in 0..3 {
            run(
                client,
                &format!("CREATE TABLE {name}_{part} PARTITION OF {name} FOR VALUES IN ({part})"),
            );
        }
    }
    run(
        client,
        &format!(
            "SELECT rag_create_pipeline('{name}', 'body', metadata => '{{lang}}', chunking => '{{\"max_tokens\": 64}}'{options})"
        ),
    );
}

/// Changes rows until it is over; why calls failed, and how often. A call that fails is not repeated.
fn change_until_over(shared: &Shared, session: u64, seed: u64) -> BTreeMap<String, usize> {
    let mut failures = BTreeMap::new();
    let mut dice = Dice(seed.wrapping_mul(1000) + session);
    let mut client = None;
    for turn in (0..).take_while(|_| !shared.is_over.load(Ordering::SeqCst)) {
        let Some(mut open) = client.take().or_else(|| connect(shared)) else {
            thread::sleep(Duration::from_millis(20));
            continue;
        };
        match change(&mut open, session, turn, &mut dice) {
            Ok(()) => drop(shared.changes.fetch_add(1, Ordering::SeqCst)),
            Err(error) => {
                let why = describe(&error);
                let is_known = KNOWN.iter().any(|known| why.starts_with(known));
                assert!(is_known, "session {session}, turn {turn}: {why}");
                *failures.entry(why).or_default() += 1;
            }
        }
        client = (!open.is_closed()).then_some(open);
        // Not to have more rows in the end than can be compared in seconds.
        thread::sleep(Duration::from_millis(30));
    }
    failures
}

/// A deadlock, a server that ends or starts, a ragd that went away or has not come back; no server.
const KNOWN: [&str; 7] =
    ["40P01", "57P0", "08006", "57014", "53000", "connection closed", "error communicating"];

fn connect(shared: &Shared) -> Option<Client> {
    let mut config = Config::new();
    config.host_path(&shared.socket).user("postgres").dbname("postgres");
    config.connect(NoTls).ok()
}

/// One statement over one of the tables. Each session has rows of its own, so that few deadlocks keep
/// others from being changed, and takes from the same keys again and again.
fn change(client: &mut Client, session: u64, turn: u64, dice: &mut Dice) -> Result<(), Error> {
    let table = SOURCES[dice.below(SOURCES.len() as u64) as usize].name;
    let key =
        |dice: &mut Dice| (dice.below(3) as i32, (dice.below(40) * SESSIONS + session) as i32);
    let (part, id) = key(dice);
    let body = prose((turn * SESSIONS + session) as usize, dice.below(7) as usize);
    let conflict =
        if table.starts_with("of_two") || table == "partitioned" { "part, id" } else { "id" };
    let one = &[&part as &(dyn postgres::types::ToSql + Sync), &id];
    match dice.below(8) {
        0..=3 => {
            let upsert = format!(
                "INSERT INTO {table} VALUES ($1, $2, $3, 'en')
                 ON CONFLICT ({conflict}) DO UPDATE SET body = EXCLUDED.body, lang = 'de'"
            );
            client.execute(&upsert, &[&part, &id, &body]).map(drop)
        }
        4 => client
            .execute(&format!("UPDATE {table} SET lang = 'fr' WHERE part = $1 AND id = $2"), one)
            .map(drop),
        5 => client
            .execute(&format!("DELETE FROM {table} WHERE part = $1 AND id = $2"), one)
            .map(drop),
        6 => client
            .execute(
                &format!("UPDATE {table} SET id = id + 100000 WHERE part = $1 AND id = $2 AND id < 100000"),
                one,
            )
            .or_else(|error| match error.code() {
                // Somebody moved there before: nothing has changed.
                Some(code) if *code == postgres::error::SqlState::UNIQUE_VIOLATION => Ok(0),
                _ => Err(error),
            })
            .map(drop),
        _ => client.batch_execute(&format!(
            "BEGIN; INSERT INTO {table} SELECT 0, {id} + 200000 + g, 'Never there ' || g, 'en'
                    FROM generate_series(1, 5) AS g; ROLLBACK"
        )),
    }
}

/// Kills until enough was killed; how often whom.
fn kill_again_and_again(
    cluster: &mut Cluster,
    shared: &Shared,
    seed: u64,
) -> BTreeMap<Kill, usize> {
    let mut dice = Dice(seed);
    let mut killed = BTreeMap::new();
    for turn in 0..number("PG_RAG_KILLS", 20) as usize {
        // At work when it is killed, and now and then not yet again.
        let before = shared.changes.load(Ordering::SeqCst);
        let wanted = [40, 10, 25, 1][turn % 4];
        let goes_on = wait_for(|| shared.changes.load(Ordering::SeqCst) >= before + wanted);
        assert!(goes_on, "nothing changes any more after {killed:?}:\n{}", cluster.log());
        thread::sleep(Duration::from_millis(dice.below(400)));
        let kill = KILLS[turn % KILLS.len()];
        execute(cluster, kill);
        *killed.entry(kill).or_default() += 1;
    }
    killed
}

fn execute(cluster: &mut Cluster, kill: Kill) {
    let postmaster = cluster.postmaster_pid();
    let supervisor = || process::titled(postmaster, "pg_rag supervisor");
    let workers = || process::titled(postmaster, "pg_rag worker");
    let sessions = || process::titled(postmaster, "postgres postgres [local]");
    // One of those that there are, or will be in a moment.
    let end = |find: &dyn Fn() -> Vec<u32>, signal: &str| {
        let mut found = None;
        let came = wait_for(|| {
            found = find().pop();
            found.is_some()
        });
        assert!(came, "{kill:?}: there is no such process");
        found.iter().for_each(|process| process::signal(*process, signal));
    };
    match kill {
        Kill::Ragd => end(&|| process::ragd(postmaster).into_iter().collect(), "KILL"),
        Kill::Worker => end(&workers, "TERM"),
        Kill::Session => end(&sessions, "TERM"),
        Kill::Supervisor => end(&supervisor, "TERM"),
        Kill::WorkerCrash => end(&workers, "KILL"),
        Kill::SessionCrash => end(&sessions, "KILL"),
        Kill::Server => {
            cluster.kill();
            cluster.boot();
        }
    }
}

/// Asserts that the chunks of a source are those that a fresh pipeline makes of its rows.
fn assert_as_fresh(client: &mut Client, source: &Source) {
    let Source { name, key, .. } = source;
    wait(client, name);
    let fresh = format!("{name}_fresh");
    create(client, source, &fresh);
    run(client, &format!("INSERT INTO {fresh} SELECT * FROM {name}"));
    wait(client, &fresh);
    let columns = format!(
        "{key}, chunk_no, content, start_char, end_char, token_count, heading, lang, content_hash, model"
    );
    let chunks = |of: &str| format!("SELECT {columns} FROM {of}_rag_chunks");
    for (what, one, other) in [("missing", &*fresh, *name), ("surplus", name, &fresh)] {
        let (one, other) = (chunks(one), chunks(other));
        assert_none(
            client,
            &format!("SELECT '{name}, {what}: ' || d::text FROM ({one} EXCEPT ALL {other}) AS d"),
        );
    }
    assert_none(
        client,
        &format!(
            "SELECT '{name}, vector: ' || c.content FROM {name}_rag_chunks AS c
             JOIN {fresh}_rag_chunks AS f USING ({key}, chunk_no) WHERE c.embedding <=> f.embedding > 0.02"
        ),
    );
    let rows = count(client, &format!("SELECT count(*) FROM {name}"));
    let chunks = count(client, &format!("SELECT count(*) FROM {name}_rag_chunks"));
    println!("{name}: {rows} rows, {chunks} chunks");
    assert!(rows > 0 && chunks > 0, "{name} has {rows} rows and {chunks} chunks");
    run(client, &format!("DROP TABLE {fresh} CASCADE"));
}

/// What a killed worker was about to insert belongs to no row until VACUUM removes it; there is no
/// more than that, and nothing after it.
fn assert_indexes_are_sound(client: &mut Client, source: &Source) {
    let index = |of: &str| format!("{}_rag_chunks_{of}_idx", source.name);
    let check = format!("SELECT p::text FROM rag_hnsw_check('{}') AS p", index("embedding"));
    let half = HALF_INSERTED.map(|it| format!("'{it}'")).join(", ");
    assert_none(client, &format!("{check} WHERE problem NOT IN ({half})"));
    run(client, &format!("VACUUM (INDEX_CLEANUP on) {}_rag_chunks", source.name));
    assert_none(client, &check);
    assert_none(client, &format!("SELECT p::text FROM rag_bm25_check('{}') AS p", index("tsv")));
}

/// No second ragd or supervisor, and no temporary file.
fn assert_nothing_is_left(cluster: &Cluster) {
    let supervisors = process::titled(cluster.postmaster_pid(), "pg_rag supervisor");
    assert!(supervisors.len() <= 1, "{} supervisors", supervisors.len());
    let ragds: usize = supervisors.iter().map(|it| process::children(*it, "ragd").len()).sum();
    assert!(ragds <= 1, "{ragds} ragd");
    let temporary = cluster.folder().join("data/base/pgsql_tmp");
    let files = std::fs::read_dir(&temporary).into_iter().flatten().flatten();
    let files: Vec<_> = files.map(|file| file.path()).collect();
    assert!(files.is_empty(), "{files:?}");
}
