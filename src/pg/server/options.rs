//! The `options jsonb` argument, and lists of names.

use serde::de::DeserializeOwned;
use serde_json::{Map, Value};

use crate::error::{Error, ErrorKind, Result};
use crate::exact;
use crate::options;
use crate::pg::server::json::Jsonb;

/// Characters that an error shows of a value.
const LONGEST_SHOWN: usize = 80;

/// Reads `options` into a struct that denies unknown fields.
///
/// An unknown key is an error that names the known ones; NULL is an empty object.
pub fn read<T: DeserializeOwned>(options: Option<Jsonb>) -> Result<T> {
    options::read("", object(options)?, &[])
}

/// The value of the argument called `name`, which must not be NULL.
pub fn present<T>(name: &str, value: Option<T>) -> Result<T> {
    value.ok_or_else(|| Error::new(ErrorKind::NullNotAllowed, format!("{name} must not be NULL")))
}

/// The argument called `argument`, which is a list of names and must not contain NULL.
pub fn names(argument: &str, names: Option<Vec<Option<String>>>) -> Result<Option<Vec<String>>> {
    let null = || {
        let message = format!("{argument} must not contain NULL");
        Error::new(ErrorKind::NullNotAllowed, message)
    };
    let present = |name: Option<String>| name.ok_or_else(null);
    names.map(|names| names.into_iter().map(present).collect()).transpose()
}

/// The options as they are, which must be an object; NULL is an empty one.
pub fn object(options: Option<impl Into<Value>>) -> Result<Value> {
    options.map_or_else(|| Ok(Value::Object(Map::new())), |given| object_called("options", given))
}

/// The argument `name` as it is, which must be an object.
pub fn object_called(name: &str, given: impl Into<Value>) -> Result<Value> {
    keys_of(name, Some(given), "{\"key\": \"value\"}").map(Value::Object)
}

/// The keys of the argument called `name`, which must be an object, for instance `example`; NULL is an
/// empty one.
fn keys_of(
    name: &str,
    given: Option<impl Into<Value>>,
    example: &str,
) -> Result<Map<String, Value>> {
    match given.map_or_else(|| Value::Object(Map::new()), Into::into) {
        Value::Object(keys) => Ok(keys),
        other => {
            let shown: String = exact::written(&other).chars().take(LONGEST_SHOWN).collect();
            Err(Error::invalid(format!("{name} is not a JSON object: {shown}"))
                .hint(format!("For instance '{example}'.")))
        }
    }
}

/// The keys of an argument `chunking`.
pub fn chunking_keys(given: Option<Jsonb>) -> Result<Map<String, Value>> {
    keys_of("chunking", given, "{\"by\": \"markdown\", \"max_tokens\": 256}")
}
