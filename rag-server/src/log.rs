//! What is said on standard error.

use std::fmt::Display;
use std::io::Write;

/// Says a line. Where nobody reads any more what is said, as after the end of a program that collected it, nothing is:
/// the server goes on.
pub fn say(line: impl Display) {
    let _ = writeln!(std::io::stderr(), "rag-server: {line}");
}
