//! ragd's log: lines on standard error, which is the server's log.

use std::fmt::Display;
use std::io::Write;

/// Writes one line. Line breaks in `message` become spaces, so that a line is an event.
///
/// A log that can't be written to must not stop an embedding, so errors are dropped.
pub fn line(message: impl Display) {
    let text = message.to_string().replace(['\n', '\r'], " ");
    let _ = std::io::stderr().lock().write_all(format!("ragd: {text}\n").as_bytes());
}
