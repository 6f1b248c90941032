//! What role `bench_b` does, and how long it takes.

use std::thread;
use std::time::{Duration, Instant};

use postgres::{Client, Statement};

use crate::figures::quantile;
use crate::{Result, Server};

/// Rows of the pipeline that is asked.
pub const ROWS: usize = 200;

/// After so long, a call is given up.
const PATIENCE: Duration = Duration::from_secs(60);

/// Between two rows, and between two texts that are read.
const PAUSE: Duration = Duration::from_millis(200);

/// Shortest and longest time between two looks for a chunk.
const LOOK: Duration = Duration::from_millis(2);
const LONGEST_LOOK: Duration = Duration::from_millis(100);

const TABLE: &str = "CREATE TABLE small (id integer PRIMARY KEY, content text NOT NULL)";

const FILL: &str = "INSERT INTO small SELECT n, content
    FROM unnest($1::text[]) WITH ORDINALITY AS given (content, n)";

const PIPELINE: &str =
    r#"SELECT rag_create_pipeline('small', 'content', options => '{"backfill": "now"}')"#;

/// A role with a pipeline of its own, in three sessions.
pub struct Probe {
    asker: Asker,
    writer: Writer,
    reader: Reader,
}

/// What a phase took.
pub struct Measured {
    pub retrieve: Times,
    pub answer: Times,
    /// From the return of the commit until the chunk is there.
    pub fresh: Times,
    pub parse: Times,
}

impl Probe {
    /// Fills a pipeline with the first documents.
    pub fn start(server: &Server, documents: &[String]) -> Result<Probe> {
        let (asked, inserted) = documents.split_at(ROWS);
        let mut client = server.session_as("bench_b");
        client.batch_execute(TABLE)?;
        client.execute(FILL, &[&asked])?;
        client.batch_execute(PIPELINE)?;
        client.batch_execute("VACUUM (ANALYZE) small, small_rag_chunks")?;
        Ok(Probe {
            asker: Asker::start(server, asked)?,
            writer: Writer::start(client, inserted)?,
            reader: Reader::start(server)?,
        })
    }

    /// Takes back what a phase has inserted, waits until nothing is left to do, and does everything
    /// once: what a first time costs is nobody's load.
    pub fn settle(&mut self) -> Result<()> {
        self.writer.clear()?;
        self.measure(Duration::ZERO).map(drop)
    }

    /// Does its work for so long, and ends what it has begun.
    pub fn measure(&mut self, time: Duration) -> Result<Measured> {
        let end = Instant::now() + time;
        let Probe { asker, writer, reader } = self;
        thread::scope(|scope| {
            let asked = scope.spawn(|| asker.ask_until(end));
            let inserted = scope.spawn(|| writer.insert_until(end));
            let parse = reader.read_until(end);
            let [retrieve, answer] = asked.join().map_err(|_| "the questions ended early")?;
            let fresh = inserted.join().map_err(|_| "the inserts ended early")??;
            Ok(Measured { retrieve, answer, fresh, parse })
        })
    }
}

/// Asks by `rag_retrieve` and `rag_answer` in turns.
struct Asker {
    client: Client,
    retrieve: Statement,
    answer: Statement,
    /// What is asked about, in the same order in each phase.
    titles: Vec<String>,
    /// Questions so far. Their number is part of each, so that none is known.
    asked: usize,
}

impl Asker {
    fn start(server: &Server, documents: &[String]) -> Result<Asker> {
        let mut client = impatient(server)?;
        let title = |document: &String| document.split(". ").next().unwrap_or_default().to_owned();
        Ok(Asker {
            retrieve: client.prepare("SELECT count(*) FROM rag_retrieve($1, 'small')")?,
            answer: client.prepare("SELECT rag_answer($1, 'small')")?,
            client,
            titles: documents.iter().map(title).collect(),
            asked: 0,
        })
    }

    /// Both ways at least once.
    fn ask_until(&mut self, end: Instant) -> [Times; 2] {
        let mut times = [Times::default(), Times::default()];
        for (turn, title) in self.titles.iter().cycle().enumerate() {
            if turn >= 2 && Instant::now() >= end {
                break;
            }
            self.asked += 1;
            let question = format!("Question {}: what is known about {title}?", self.asked);
            let statement = [&self.retrieve, &self.answer][turn % 2];
            times[turn % 2].take(|| Ok(self.client.query_one(statement, &[&question])?));
        }
        times
    }
}

/// Inserts rows one after the other, and looks for their chunks.
struct Writer {
    client: Client,
    insert: Statement,
    is_there: Statement,
    /// What is inserted, in the same order in each phase.
    texts: Vec<String>,
    last: i32,
}

impl Writer {
    fn start(mut client: Client, texts: &[String]) -> Result<Writer> {
        Ok(Writer {
            insert: client.prepare("INSERT INTO small VALUES ($1, $2)")?,
            is_there: client
                .prepare("SELECT EXISTS (SELECT FROM small_rag WHERE source_id = $1)")?,
            client,
            texts: texts.to_vec(),
            last: ROWS as i32,
        })
    }

    fn clear(&mut self) -> Result<()> {
        self.client.execute("DELETE FROM small WHERE id > $1", &[&(ROWS as i32)])?;
        let done = self.client.query_one("SELECT rag_wait('small', '5 minutes')", &[])?;
        if done.get(0) { Ok(()) } else { Err("the rows are not embedded after 5 minutes".into()) }
    }

    /// At least one.
    fn insert_until(&mut self, end: Instant) -> Result<Times> {
        let mut times = Times::default();
        for text in self.texts.iter().cycle() {
            self.last += 1;
            let content = format!("Note {}. {text}", self.last);
            self.client.execute(&self.insert, &[&self.last, &content])?;
            times.take(|| until_there(&mut self.client, &self.is_there, self.last));
            thread::sleep(PAUSE);
            if Instant::now() >= end {
                break;
            }
        }
        Ok(times)
    }
}

/// Looks until a row has its chunk. `rag_wait` would look no less often, with more statements, and
/// sees to it that there is a worker. Pauses are a fiftieth of the time so far: that is as precise as
/// it needs to be, and a row that waits for long is no load.
fn until_there(client: &mut Client, is_there: &Statement, id: i32) -> Result<()> {
    let committed = Instant::now();
    while !client.query_one(is_there, &[&id])?.get::<_, bool>(0) {
        let waited = committed.elapsed();
        if waited > PATIENCE {
            return Err(format!("no chunk after {PATIENCE:?}").into());
        }
        thread::sleep((waited / 50).clamp(LOOK, LONGEST_LOOK));
    }
    Ok(())
}

/// Has a text of ten bytes read now and then.
struct Reader {
    client: Client,
    read: Statement,
}

impl Reader {
    fn start(server: &Server) -> Result<Reader> {
        let mut client = impatient(server)?;
        let read = client.prepare("SELECT count(*) FROM rag_parse('ten bytes.'::bytea)")?;
        Ok(Reader { client, read })
    }

    /// At least once.
    fn read_until(&mut self, end: Instant) -> Times {
        let mut times = Times::default();
        loop {
            times.take(|| Ok(self.client.query_one(&self.read, &[])?));
            thread::sleep(PAUSE);
            if Instant::now() >= end {
                return times;
            }
        }
    }
}

/// A session that gives up what takes too long.
fn impatient(server: &Server) -> Result<Client> {
    let mut client = server.session_as("bench_b");
    client.batch_execute(&format!("SET statement_timeout = '{}s'", PATIENCE.as_secs()))?;
    Ok(client)
}

/// How long calls took. One that fails counts, too: it has taken at least so long.
#[derive(Default)]
pub struct Times {
    each: Vec<Duration>,
    failed: usize,
    first_error: Option<String>,
}

impl Times {
    fn take<R>(&mut self, call: impl FnOnce() -> Result<R>) {
        let begun = Instant::now();
        let result = call();
        self.each.push(begun.elapsed());
        if let Err(error) = result {
            self.failed += 1;
            self.first_error.get_or_insert_with(|| message(&*error));
        }
    }

    /// How many there were.
    pub fn count(&self) -> usize {
        self.each.len()
    }

    /// The median, in milliseconds.
    pub fn p50(&self) -> f64 {
        quantile(&mut self.each.clone(), 0.5)
    }

    /// What one in a hundred exceeds, in milliseconds; the longest of fewer than that.
    pub fn p99(&self) -> f64 {
        quantile(&mut self.each.clone(), 0.99)
    }

    /// How many failed, and why the first one did.
    pub fn trouble(&self) -> Option<String> {
        let error = self.first_error.as_ref()?;
        Some(format!("{} failed: {error}", self.failed))
    }
}

/// What the server said, if it was the server.
fn message(error: &(dyn std::error::Error + Send + Sync + 'static)) -> String {
    let said = error.downcast_ref::<postgres::Error>().and_then(|error| error.as_db_error());
    said.map_or_else(|| error.to_string(), |said| said.message().to_owned())
}
