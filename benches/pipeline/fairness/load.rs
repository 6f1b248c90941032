//! What role `bench_a` does in several sessions, over and over.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread::{self, JoinHandle};
use std::time::{Duration, Instant};

use postgres::Client;

use crate::documents::endless_pdf;
use crate::{Result, Server};

/// Rows of the table `big` for each second of a phase: many times what a machine can embed.
const ROWS_A_SECOND: usize = 500;

const BIG: &str = "CREATE TABLE big (id integer PRIMARY KEY, content text NOT NULL)";

const FILL: &str = "INSERT INTO big
    SELECT row_number() OVER (ORDER BY copy, n), format('Copy %s. %s', copy, content)
    FROM generate_series(1, $2::integer) AS copy,
         unnest($1::text[]) WITH ORDINALITY AS given (content, n)";

/// Arrays of texts that are cut as a pipeline cuts them, a text that is longer than the model reads, and
/// a place for the document.
const TEXTS: &str = "
    CREATE TABLE piece AS
    SELECT (big.id - 1) / 32 AS no, array_agg(c.content ORDER BY big.id, c.chunk_no) AS contents,
           sum(c.token_count) AS tokens
    FROM big, rag_chunk(big.content, '{\"max_tokens\": 256}') AS c WHERE big.id <= 320 GROUP BY 1;
    CREATE TABLE long_text AS
    SELECT left(string_agg(content, ' '), 100000) AS content
    FROM (SELECT content FROM big ORDER BY id LIMIT 200) AS beginning;
    CREATE TABLE hostile (document bytea)";

const END_SESSIONS: &str = "SELECT count(pg_terminate_backend(pid, 10000)) FROM pg_stat_activity
    WHERE usename = 'bench_a' AND backend_type = 'client backend'";

/// What sessions do over and over.
pub struct Load {
    sessions: usize,
    settings: &'static str,
    /// Its parameter is another number in each call; it gives a number of tokens, if that matters.
    statement: &'static str,
    /// Part of the error that each call ends in, if it is to fail.
    error: Option<&'static str>,
}

/// Arrays of about sixty chunks, which wait behind questions.
pub const BULK: Load = Load {
    sessions: 4,
    settings: "",
    statement: "SELECT CASE WHEN cardinality(rag_embed(contents)) > 0 THEN tokens END
                FROM piece WHERE no = $1::bigint % 10",
    error: None,
};

/// The same by one session.
pub const ALONE: Load = Load { sessions: 1, ..BULK };

/// Texts of 100 kB, each a question to ragd.
pub const LONG_QUERIES: Load = Load {
    sessions: 8,
    settings: "",
    statement: "SELECT count(rag_embed($1::bigint::text || ' ' || content)) FROM long_text",
    error: None,
};

/// Documents that compute until their time is over.
pub const HOSTILE_PDFS: Load = Load {
    sessions: 8,
    settings: "SET rag.parse_timeout = '5s'",
    statement: "SELECT count(*) FROM hostile, rag_parse(document) WHERE $1::bigint >= 0",
    error: Some("was not parsed within"),
};

/// Makes the tables of `bench_a`, with a large one for phases of this length; how many rows that has.
pub fn prepare(server: &Server, documents: &[String], time: Duration) -> Result<u64> {
    let copies = (ROWS_A_SECOND * time.as_secs() as usize).div_ceil(documents.len());
    let mut client = server.session_as("bench_a");
    client.batch_execute(BIG)?;
    let rows = client.execute(FILL, &[&documents, &(copies as i32)])?;
    client.batch_execute("VACUUM (ANALYZE) big")?;
    client.batch_execute(TEXTS)?;
    client.execute("INSERT INTO hostile VALUES ($1)", &[&endless_pdf()])?;
    Ok(rows)
}

/// What was done in a phase.
pub struct Work {
    /// Tokens that were embedded; `None` where too little was done to tell.
    pub tokens_a_second: Option<f64>,
    /// The same and more in words.
    pub said: String,
}

/// Sessions at work.
pub struct Sessions {
    is_over: Arc<AtomicBool>,
    threads: Vec<JoinHandle<Result<Tally>>>,
}

/// What a session has done.
#[derive(Default)]
struct Tally {
    calls: u32,
    tokens: i64,
    /// The time of these calls.
    busy: Duration,
}

impl Sessions {
    /// Has them begin.
    pub fn begin(server: &Server, load: &'static Load) -> Sessions {
        let is_over = Arc::new(AtomicBool::new(false));
        let start = |session: usize| {
            let (client, is_over) = (server.session_as("bench_a"), Arc::clone(&is_over));
            // Each with texts of its own, and a place of its own to begin.
            thread::spawn(move || repeat(client, load, session as i64 * 10_003, &is_over))
        };
        let threads = (0..load.sessions).map(start).collect();
        Sessions { is_over, threads }
    }

    /// Ends them in the middle of their calls, which do not count.
    pub fn end(self, server: &Server) -> Result<Work> {
        self.is_over.store(true, Ordering::SeqCst);
        server.session().query_one(END_SESSIONS, &[])?;
        let (mut tallies, mut failure) = (Vec::new(), None);
        for thread in self.threads {
            match thread.join().map_err(|_| "a session of bench_a ended early")? {
                Ok(tally) => tallies.push(tally),
                // What was measured beside the others is still worth something.
                Err(error) => failure = Some(error.to_string()),
            }
        }
        let work = Work::of(&tallies);
        Ok(match failure {
            Some(error) => {
                Work { said: format!("{}; a session FAILED: {error}", work.said), ..work }
            }
            None => work,
        })
    }
}

impl Work {
    fn of(tallies: &[Tally]) -> Work {
        let calls: u32 = tallies.iter().map(|tally| tally.calls).sum();
        let busy: Duration = tallies.iter().map(|tally| tally.busy).sum();
        let done = tallies.iter().filter(|tally| tally.calls > 0);
        let rate: f64 = done.map(|tally| tally.tokens as f64 / tally.busy.as_secs_f64()).sum();
        let said = match calls {
            0 => format!("no call of {} sessions ended", tallies.len()),
            _ => {
                let each = (busy / calls).as_secs_f64();
                format!("{calls} calls in {} sessions, {each:.2} s each", tallies.len())
            }
        };
        Work { tokens_a_second: (calls > 0).then_some(rate), said }
    }
}

/// Calls until it is over, or something unexpected happens.
fn repeat(mut client: Client, load: &Load, first: i64, is_over: &AtomicBool) -> Result<Tally> {
    client.batch_execute(load.settings)?;
    let statement = client.prepare(load.statement)?;
    let mut tally = Tally::default();
    for call in first.. {
        if is_over.load(Ordering::SeqCst) {
            break;
        }
        let begun = Instant::now();
        let result = client.query_one(&statement, &[&call]);
        match (result, load.error) {
            // Its end may be ours.
            (Err(_), _) if is_over.load(Ordering::SeqCst) => break,
            (Ok(row), None) => tally.tokens += row.get::<_, i64>(0),
            (Ok(_), Some(error)) => return Err(format!("a call did not fail: {error}").into()),
            (Err(error), expected) if is_expected(&error, expected) => {}
            (Err(error), _) => return Err(error.into()),
        }
        tally.calls += 1;
        tally.busy += begun.elapsed();
    }
    Ok(tally)
}

fn is_expected(error: &postgres::Error, expected: Option<&str>) -> bool {
    let said = error.as_db_error().map_or("", |error| error.message());
    expected.is_some_and(|expected| said.contains(expected))
}
