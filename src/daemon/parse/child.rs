//! The process that reads one document: a frame on standard input, a frame on standard output.

use std::io::{Read, Write};
use std::process::ExitCode;
use std::time::Duration;

use crate::daemon::confine::confine;
use crate::daemon::protocol::{HEADER, ParseJob, ParseOutcome, decode, encode};
use crate::error::Result;
use crate::parse;

/// Reads the document on standard input and answers on standard output.
pub fn run(time: Duration) -> ExitCode {
    if !confine(time) {
        return ExitCode::FAILURE;
    }
    // A panic is an error that is answered, and its words are of no use to anybody.
    std::panic::set_hook(Box::new(|_| {}));
    let mut input = Vec::new();
    if std::io::stdin().lock().read_to_end(&mut input).is_err() {
        return ExitCode::FAILURE;
    }
    let outcome = read(&input);
    drop(input);
    let Ok(frame) = encode(&outcome) else { return ExitCode::FAILURE };
    match std::io::stdout().lock().write_all(&frame) {
        Ok(()) => ExitCode::SUCCESS,
        Err(_) => ExitCode::FAILURE,
    }
}

fn read(frame: &[u8]) -> ParseOutcome {
    let job: Result<ParseJob<'_>> = decode(frame.get(HEADER..).unwrap_or_default());
    let job = job?;
    parse::parse(job.bytes, job.mime, &job.options, &job.limits)
}
