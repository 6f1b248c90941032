//! # parse: each document is read in a process of its own
//!
//! ```text
//! document → ragd --parse: frame in, frame out → parts, or what ended the process
//! source code → the same → where it may be cut
//! JSON schema, answer → the same → what is wrong with the answer
//! ```
//!
//! A parser of documents that come from anywhere is where memory and time get lost. In a
//! process of its own it can be ended at any moment, and takes all that it had with it. The
//! process reads one document and leaves: its start costs a few milliseconds, which is little
//! beside a document, and nothing of one document can reach another.

mod child;
mod exchange;
mod places;

use std::io;
use std::os::unix::process::{CommandExt, ExitStatusExt};
use std::process::{Child, Command, ExitStatus, Stdio};
use std::thread;
use std::time::{Duration, Instant};

use super::confine::MEMORY;
use super::worker::Client;
use crate::chunk::{ChunkingOptions, CutPlan};
use crate::error::{Error, ErrorKind, Result};
use crate::parse::{ParseLimits, ParseOptions};
use crate::protocol::{
    ChildJob, FileDocument, HEADER, ParseJob, ParseOutcome, SchemaOutcome, body_length, decode,
    encode,
};
use crate::provider::schema::{SchemaCheck, SchemaFit};
pub use child::run as run_child;
use exchange::{Ended, Exchange};
use places::ParserSlots;

/// How often a wait looks whether the client is still there.
const GLANCE: Duration = Duration::from_millis(20);

/// How long a process may look for places to cut. A megabyte of code takes a second, and the rows
/// of a worker's first batch together less than its lease.
const PLAN_TIME: Duration = Duration::from_secs(3);

/// How long a process may check an answer against a schema. One that is meant well takes milliseconds.
const SCHEMA_TIME: Duration = Duration::from_secs(5);

/// Bytes of the answer about a schema, beside those of the checked text.
const SCHEMA_ROOM: usize = 64 << 10;

/// Most processes of a role at a time, whatever the number of cores: each may take [`MEMORY`].
const MOST: usize = 4;

/// Starts the processes, for a role not more of them than there are cores.
pub struct Parsers {
    places: ParserSlots,
    limits: ParseLimits,
}

impl Parsers {
    /// The places for parsers, none of which runs yet.
    pub fn new() -> Parsers {
        let cores = thread::available_parallelism().map_or(1, |cores| cores.get());
        Parsers {
            places: ParserSlots::new(cores.clamp(1, MOST) + 1),
            limits: ParseLimits::default(),
        }
    }

    /// Reads `documents` one after the other, each for at most `timeout`.
    ///
    /// Fails as a whole if the client has gone or no process can be started.
    pub fn parse(
        &self,
        documents: &[FileDocument],
        options: &ParseOptions,
        timeout: Duration,
        client: &Client,
    ) -> Result<Vec<ParseOutcome>> {
        let read = |document: &FileDocument| {
            let job = ParseJob {
                bytes: &document.bytes,
                mime: document.mime.as_deref(),
                options: options.clone(),
                limits: self.limits.clone(),
            };
            self.read(&job, timeout, client)
        };
        documents.iter().map(read).collect()
    }

    /// One document. The inner error is the document's, the outer one ragd's.
    fn read(&self, job: &ParseJob<'_>, timeout: Duration, client: &Client) -> Result<ParseOutcome> {
        if let Err(error) = self.limits.check_document(job.bytes.len()) {
            return Ok(Err(error));
        }
        let frame = encode(&ChildJob::Parse(job.clone()))?;
        let room = self.limits.text + self.limits.text / 2;
        match self.converse(&frame, room, timeout, client)? {
            Ok(output) => Ok(decode(&output).unwrap_or_else(Err)),
            Err(error) => Ok(Err(error)),
        }
    }

    /// Finds where `text` may be cut by a parser of its language.
    ///
    /// `None` where the parser needs too long or dies of the text, and where the text is so long
    /// that it is not tried. Fails if the client has gone or no process can be started.
    pub fn plan(
        &self,
        text: &str,
        options: &ChunkingOptions,
        client: &Client,
    ) -> Result<Option<CutPlan>> {
        if text.len() > self.limits.text {
            return Ok(None);
        }
        let frame = encode(&ChildJob::Plan { text, options: options.clone() })?;
        let room = 1024 + 64 * text.len();
        let output = self.converse(&frame, room, PLAN_TIME, client)?;
        Ok(output.ok().and_then(|output| decode(&output).ok()))
    }

    /// Checks answers against schemas for `client`, each in a process.
    pub fn for_client<'a>(&'a self, client: &'a Client) -> impl SchemaCheck + 'a {
        ClientSchemaCheck { parsers: self, client }
    }

    /// What a process answers to `frame`, in at most `room` bytes. The inner error is about what
    /// was sent, the outer one ragd's.
    fn converse(
        &self,
        frame: &[u8],
        room: usize,
        timeout: Duration,
        client: &Client,
    ) -> Result<Result<Vec<u8>>> {
        let _place = self.places.take(client)?;
        let deadline = Instant::now() + timeout;
        let mut process = Process::start(timeout)?;
        let exchange = Exchange { deadline, is_alive: &client.is_alive, glance: GLANCE, room };
        match exchange.run(&mut process.0, frame).map_err(cannot_start)? {
            Ended::Gone => Err(Error::new(ErrorKind::DaemonLost, "the client has gone")),
            Ended::Late => Ok(Err(too_slow(timeout))),
            Ended::TooMuch => Ok(Err(process.kill_and(too_much()))),
            Ended::Closed { mut output, complaint } => match output.get(HEADER..) {
                Some(body) if body_is_whole(&output) && !body.is_empty() => {
                    Ok(Ok(output.split_off(HEADER)))
                }
                _ => Ok(Err(failure(process.wait()?, &complaint, timeout))),
            },
        }
    }
}

/// Checks schemas on behalf of a client.
struct ClientSchemaCheck<'a> {
    parsers: &'a Parsers,
    client: &'a Client,
}

impl SchemaCheck for ClientSchemaCheck<'_> {
    fn check(&self, schema: &str, answer: Option<&str>) -> Result<SchemaFit> {
        let frame = encode(&ChildJob::CheckSchema { schema, answer })?;
        let room = SCHEMA_ROOM + 2 * answer.map_or(0, str::len);
        match self.parsers.converse(&frame, room, SCHEMA_TIME, self.client)? {
            Ok(output) => decode::<SchemaOutcome>(&output)?,
            // Whatever ended the process: it is the schema that has led it there.
            Err(_) => Err(too_complex()),
        }
    }
}

impl Default for Parsers {
    fn default() -> Parsers {
        Parsers::new()
    }
}

/// Whether a process has written all that it wanted to.
fn body_is_whole(output: &[u8]) -> bool {
    let header = output.first_chunk::<HEADER>();
    header.is_some_and(|header| body_length(*header) == Ok(output.len() - HEADER))
}

/// A child process; killed and buried when it is dropped.
struct Process(Child);

impl Process {
    /// The executable that runs, even if its file has been replaced since.
    fn start(timeout: Duration) -> Result<Process> {
        Command::new("/proc/self/exe")
            .arg0("ragd")
            .arg("--parse")
            .arg(timeout.as_secs().max(1).to_string())
            .env_clear()
            .current_dir("/")
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .spawn()
            .map(Process)
            .map_err(cannot_start)
    }

    fn wait(&mut self) -> Result<ExitStatus> {
        self.0.wait().map_err(cannot_start)
    }

    fn kill_and(&mut self, error: Error) -> Error {
        let _ = self.0.kill();
        error
    }
}

impl Drop for Process {
    fn drop(&mut self) {
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

fn cannot_start(error: io::Error) -> Error {
    Error::new(ErrorKind::OutOfResources, format!("cannot run a parser process: {error}"))
}

fn too_complex() -> Error {
    let (seconds, megabytes) = (SCHEMA_TIME.as_secs(), MEMORY >> 20);
    let message = format!(
        "schema is too complex: an answer could not be checked within {seconds} s and {megabytes} MB"
    );
    Error::invalid(message).hint(
        "A subschema is checked once for each path that leads to it. Let fewer branches of allOf, anyOf and oneOf refer to the same one.",
    )
}

fn too_slow(timeout: Duration) -> Error {
    let waited = timeout.as_millis();
    Error::new(ErrorKind::DocumentLimit, format!("document was not parsed within {waited} ms"))
        .hint("Raise rag.parse_timeout, or split the document.")
}

fn too_much() -> Error {
    Error::new(ErrorKind::DocumentLimit, "document has too much text").hint("Split the document.")
}

/// What ended a process that gave no answer. `complaint` is what it said on standard error.
fn failure(status: ExitStatus, complaint: &str, timeout: Duration) -> Error {
    let megabytes = MEMORY >> 20;
    match status.signal() {
        _ if complaint.contains("memory allocation of") => Error::new(
            ErrorKind::DocumentLimit,
            format!("document needs more than {megabytes} MB of memory to be parsed"),
        )
        .hint("Split the document."),
        _ if complaint.contains("overflowed its stack") => {
            Error::new(ErrorKind::DocumentLimit, "document is nested too deeply to be parsed")
                .hint("Open it in the program that made it and save it again.")
        }
        Some(libc::SIGXCPU) => too_slow(timeout),
        Some(libc::SIGKILL) => {
            Error::new(ErrorKind::DocumentLimit, "the parser of the document was killed")
                .hint("The machine may be short of memory.")
        }
        _ => Error::new(
            ErrorKind::DocumentUnreadable,
            format!("document is damaged: its parser ended by {status}"),
        )
        .hint("Open it in the program that made it and save it again."),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(signal: i32, complaint: &str, kind: ErrorKind, words: &str) {
        let error = failure(ExitStatus::from_raw(signal), complaint, Duration::from_secs(1));
        assert_eq!(error.kind(), kind);
        assert!(error.message().contains(words), "{error}");
        assert!(error.hint_text().is_some());
    }

    #[test]
    fn what_ended_the_process_is_said() {
        use ErrorKind::{DocumentLimit, DocumentUnreadable};
        check(6, "memory allocation of 99 bytes failed", DocumentLimit, "1024 MB");
        check(6, "\nthread 'main' has overflowed its stack\n", DocumentLimit, "nested");
        check(libc::SIGXCPU, "", DocumentLimit, "1000 ms");
        check(libc::SIGKILL, "", DocumentLimit, "killed");
        check(libc::SIGSEGV, "", DocumentUnreadable, "signal");
    }
}
