//! The JSON files of a model's folder: their numbers, and what is said of one that cannot be used.

use std::path::Path;

use serde_json::Value;

use crate::error::{Error, ErrorKind};

/// A number that may be written as an integer or, like 1e30, as a float.
pub(super) fn number(object: &Value, key: &str) -> Option<u64> {
    let value = &object[key];
    value.as_u64().or_else(|| value.as_f64().filter(|float| *float >= 0.0).map(|f| f as u64))
}

/// That a file does not say what it should.
pub(super) fn corrupted(path: &Path, why: &str) -> Error {
    let message = format!("cannot understand \"{}\": {why}", path.display());
    Error::new(ErrorKind::FileCorrupted, message)
}

/// That a file asks for what this version cannot compute.
pub(super) fn unsupported(path: &Path, what: &str) -> Error {
    let message = format!("{what} of \"{}\" is not supported", path.display());
    Error::new(ErrorKind::Unsupported, message)
}
