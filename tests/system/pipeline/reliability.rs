//! Everything is killed again and again while rows change: in the end the chunks are those of
//! the rows, each once.
//!
//! `PG_RAG_PIPELINE_ROWS`, `PG_RAG_PIPELINE_SECONDS` and `PG_RAG_PIPELINE_CRASHES` make it a
//! longer run.

use std::path::PathBuf;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::thread::{self, JoinHandle};

use postgres::{Config, Error, NoTls};

use super::super::at_work::number;
use super::super::documents::prose;
use super::super::index::HALF_INSERTED;
use super::super::process;
use super::*;

const SESSIONS: usize = 8;
const RAGD_EVERY: Duration = Duration::from_secs(5);
const WORKERS_EVERY: Duration = Duration::from_secs(3);

/// What was done to the server.
#[derive(Debug, Default)]
struct Havoc {
    ragd: usize,
    workers: usize,
    crashes: usize,
}

/// What the sessions know of each other.
struct Shared {
    socket: PathBuf,
    rows: usize,
    begun: Instant,
    seconds: f64,
    inserted: AtomicUsize,
    transactions: AtomicUsize,
    failures: AtomicUsize,
    is_over: AtomicBool,
}

#[test]
fn whatever_is_killed_the_chunks_are_those_of_the_rows() {
    let Some((mut cluster, client)) = start(&["deadlock_timeout = 100ms"]) else { return };
    drop(client);
    let crashes = number("PG_RAG_PIPELINE_CRASHES", 1) as usize;
    let shared = Arc::new(Shared {
        socket: cluster.folder().to_owned(),
        rows: number("PG_RAG_PIPELINE_ROWS", 1200) as usize,
        begun: Instant::now(),
        seconds: number("PG_RAG_PIPELINE_SECONDS", 12) as f64,
        inserted: AtomicUsize::new(0),
        transactions: AtomicUsize::new(0),
        failures: AtomicUsize::new(0),
        is_over: AtomicBool::new(false),
    });
    let sessions: Vec<JoinHandle<()>> = (0..SESSIONS)
        .map(|session| {
            let shared = Arc::clone(&shared);
            thread::spawn(move || change_until_over(&shared, session))
        })
        .collect();
    let havoc = wreak(&mut cluster, &shared, crashes);
    shared.is_over.store(true, Ordering::SeqCst);
    sessions.into_iter().for_each(|session| session.join().expect("a session"));
    let changed = shared.begun.elapsed();
    let mut client = cluster.connect();
    let waited = Instant::now();
    let done = client.query_one("SELECT rag_wait('docs', '6 hours')", &[]).unwrap();
    assert!(done.get::<_, bool>(0), "{:?}", status(&mut client));
    let waited = waited.elapsed();
    let rows = count(&mut client, "SELECT count(*) FROM docs");
    println!(
        "{havoc:?}: {SESSIONS} sessions inserted {} rows in {} transactions and {:.1} s, {} calls failed; \
         {rows} rows and {} chunks in the end, all embedded {:.1} s later",
        shared.inserted.load(Ordering::SeqCst),
        shared.transactions.load(Ordering::SeqCst),
        changed.as_secs_f64(),
        shared.failures.load(Ordering::SeqCst),
        count(&mut client, "SELECT count(*) FROM docs_rag_chunks"),
        waited.as_secs_f64()
    );
    assert_agree(&mut client, 64);
    for table in ["queue", "intake", "dead_letter"] {
        assert_none(&mut client, &format!("SELECT t::text FROM rag.{table} AS t"));
    }
    // What a killed worker was about to insert belongs to no row, and VACUUM removes it. There is no
    // more than that: VACUUM would also mend links that rows have lost.
    let check = "FROM rag_hnsw_check('docs_rag_chunks_embedding_idx') AS p";
    let others = format!("SELECT p::text {check} WHERE problem <> ALL ($1)");
    let others: Vec<String> = client
        .query(&others, &[&&HALF_INSERTED[..]])
        .unwrap()
        .iter()
        .map(|row| row.get(0))
        .collect();
    assert!(others.is_empty(), "{others:#?}");
    let half = count(&mut client, &format!("SELECT count(DISTINCT (block, slot)) {check}"));
    // Two workers, of which a crash ends both.
    let killed = (havoc.workers + 2 * havoc.crashes) as i64;
    assert!(half <= killed, "{half} nodes, {killed} kills");
    run(&mut client, "VACUUM (INDEX_CLEANUP on) docs_rag_chunks");
    assert_none(&mut client, &format!("SELECT p::text {check}"));
    assert!(shared.inserted.load(Ordering::SeqCst) >= shared.rows, "too few rows");
    assert!(havoc.ragd > 0 && havoc.workers > 0 && havoc.crashes == crashes, "{havoc:?}");
}

/// Kills ragd, workers and the server by the clock, until the time is over, each was killed and all
/// rows are there.
fn wreak(cluster: &mut Cluster, shared: &Shared, crashes: usize) -> Havoc {
    let mut havoc = Havoc::default();
    let (mut last_ragd, mut last_workers) = (Instant::now(), Instant::now());
    loop {
        let passed = shared.begun.elapsed().as_secs_f64();
        let inserted = shared.inserted.load(Ordering::SeqCst);
        let is_done = havoc.ragd > 0 && havoc.workers > 0 && havoc.crashes == crashes;
        if passed >= shared.seconds && inserted >= shared.rows && is_done {
            return havoc;
        }
        assert!(
            passed < 300.0 + shared.seconds * 20.0,
            "{inserted} rows after {passed} s: {havoc:?}"
        );
        if last_ragd.elapsed() >= RAGD_EVERY {
            last_ragd = Instant::now();
            if let Some(ragd) = process::ragd(cluster.postmaster_pid()) {
                process::signal(ragd, "KILL");
                havoc.ragd += 1;
            }
        }
        if last_workers.elapsed() >= WORKERS_EVERY {
            last_workers = Instant::now();
            let end = "SELECT count(pg_terminate_backend(pid)) FROM pg_stat_activity
                       WHERE backend_type = 'pg_rag worker'";
            havoc.workers += count(&mut cluster.connect(), end) as usize;
        }
        let next_crash = shared.seconds * (havoc.crashes + 1) as f64 / (crashes + 1) as f64;
        if havoc.crashes < crashes && passed >= next_crash {
            cluster.stop("QUIT");
            cluster.boot();
            havoc.crashes += 1;
        }
        thread::sleep(Duration::from_millis(50));
    }
}

/// Changes rows at an even pace. A call may fail with the server, and is not repeated.
fn change_until_over(shared: &Shared, session: usize) {
    let mut client = None;
    let mut next = session;
    for turn in 0.. {
        if shared.is_over.load(Ordering::SeqCst) {
            return;
        }
        let due = shared.rows as f64 * shared.begun.elapsed().as_secs_f64() / shared.seconds;
        if shared.inserted.load(Ordering::SeqCst) as f64 > due {
            thread::sleep(Duration::from_millis(20));
            continue;
        }
        let Some(open) = client.take().or_else(|| connect(shared)) else {
            thread::sleep(Duration::from_millis(50));
            continue;
        };
        client = Some(open);
        let Some(open) = client.as_mut() else { continue };
        match change(open, session, turn, &mut next) {
            Ok(inserted) => {
                shared.inserted.fetch_add(inserted, Ordering::SeqCst);
                shared.transactions.fetch_add(1, Ordering::SeqCst);
            }
            Err(error) => {
                shared.failures.fetch_add(1, Ordering::SeqCst);
                let text = describe(&error);
                // A deadlock, a server that is ended or starts; or no server at all.
                let known = ["40P01", "57P0", "connection closed", "error communicating"];
                assert!(known.iter().any(|known| text.contains(known)), "{text}");
                if client.as_ref().is_some_and(Client::is_closed) {
                    client = None;
                }
            }
        }
    }
}

fn connect(shared: &Shared) -> Option<Client> {
    let mut config = Config::new();
    config.host_path(&shared.socket).user("postgres").dbname("postgres");
    config.connect(NoTls).ok()
}

/// A transaction of inserts with updates, deletes and savepoints; the rows that it inserted. Each
/// session has numbers of its own for new rows, and changes anybody's.
fn change(
    client: &mut Client,
    session: usize,
    turn: usize,
    next: &mut usize,
) -> Result<usize, Error> {
    let rows = [1, 3, 8, 20][turn % 4];
    let mut transaction = client.transaction()?;
    let mut insert = |transaction: &mut postgres::Transaction<'_>, rows: usize| {
        for _ in 0..rows {
            let id = *next as i32;
            // Mostly one chunk, sometimes several, now and then none.
            let body = prose(*next + turn, [1, 2, 1, 9, 0, 3][(turn + *next / SESSIONS) % 6]);
            transaction.execute("INSERT INTO docs VALUES ($1, 't', $2, 'en')", &[&id, &body])?;
            *next += SESSIONS;
        }
        Ok::<(), Error>(())
    };
    insert(&mut transaction, rows)?;
    // In the order of keys, or nearly nothing would get through for deadlocks.
    let some = |salt: usize, of: usize| {
        format!(
            "id IN (SELECT id FROM docs WHERE hashint4(id + {salt}) % {of} = 0 ORDER BY id LIMIT 3 FOR UPDATE SKIP LOCKED)"
        )
    };
    let salt = turn * 31 + session;
    match turn % 8 {
        0 => {
            transaction.batch_execute("SAVEPOINT a")?;
            insert(&mut transaction, 5)?;
            transaction.batch_execute(&format!("UPDATE docs SET body = 'Lost.' WHERE {}", some(salt, 50)))?;
            transaction.batch_execute("ROLLBACK TO a")?;
        }
        1 => transaction.batch_execute(&format!("DELETE FROM docs WHERE {}", some(salt, 80)))?,
        2 | 3 => transaction.batch_execute(&format!(
            "UPDATE docs SET body = 'Changed in turn {turn} of session {session}. ' || left(body, 300) WHERE {}",
            some(salt, 40)
        ))?,
        4 => transaction.batch_execute(&format!("UPDATE docs SET lang = 'l{turn}' WHERE {}", some(salt, 40)))?,
        5 => transaction.batch_execute(&format!(
            "UPDATE docs SET id = id + 1000000000 WHERE id < 1000000000 AND {}",
            some(salt, 100)
        ))?,
        6 => {
            transaction.batch_execute(&format!(
                "SAVEPOINT b; UPDATE docs SET body = body || ' Kept.' WHERE {}; RELEASE b",
                some(salt, 40)
            ))?;
        }
        _ => {
            transaction.rollback()?;
            return Ok(0);
        }
    }
    transaction.commit()?;
    Ok(rows)
}
