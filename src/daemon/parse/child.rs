//! The process that reads one document, finds where it may be cut, or checks an answer against a schema:
//! a frame on standard input, a frame on standard output.

use std::io::{Read, Write};
use std::process::ExitCode;
use std::time::Duration;

use crate::daemon::confine::{confine, stand_back};
use crate::error::Result;
use crate::protocol::{ChildJob, HEADER, ParseOutcome, SchemaOutcome, decode, encode};
use crate::provider::schema;
use crate::{chunk, parse};

/// Reads the document on standard input and answers on standard output.
pub fn run(time: Duration) -> ExitCode {
    if !confine(time) {
        return ExitCode::FAILURE;
    }
    // A panic is an error that is answered; the message that it prints would be of no use.
    std::panic::set_hook(Box::new(|_| {}));
    let mut input = Vec::new();
    if std::io::stdin().lock().read_to_end(&mut input).is_err() {
        return ExitCode::FAILURE;
    }
    let Ok(frame) = answer(&input) else { return ExitCode::FAILURE };
    drop(input);
    match std::io::stdout().lock().write_all(&frame) {
        Ok(()) => ExitCode::SUCCESS,
        Err(_) => ExitCode::FAILURE,
    }
}

fn answer(frame: &[u8]) -> Result<Vec<u8>> {
    match decode(frame.get(HEADER..).unwrap_or_default()) {
        Ok(ChildJob::Parse(job)) => {
            stand_back();
            let outcome: ParseOutcome =
                parse::parse(job.bytes, job.mime, &job.options, &job.limits);
            encode(&outcome)
        }
        Ok(ChildJob::Plan { text, options }) => encode(&chunk::plan(text, &options)),
        Ok(ChildJob::CheckSchema { schema, answer }) => {
            let outcome: SchemaOutcome = schema::check(schema, answer);
            encode(&outcome)
        }
        Err(error) => encode(&ParseOutcome::Err(error)),
    }
}
