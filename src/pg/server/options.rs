//! The `options jsonb` argument.

use serde::de::DeserializeOwned;
use serde_json::{Map, Value};

use crate::error::{Error, Result};
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

/// An `options` argument that is read in parts, each by the code that knows it.
pub struct GivenOptions {
    rest: Map<String, Value>,
    known: Vec<&'static str>,
}

impl GivenOptions {
    /// Takes an argument to be read; NULL is an empty object.
    pub fn of(options: Option<Jsonb>) -> Result<GivenOptions> {
        match object(options)? {
            Value::Object(rest) => Ok(GivenOptions { rest, known: Vec::new() }),
            _ => Ok(GivenOptions { rest: Map::new(), known: Vec::new() }),
        }
    }

    /// Takes the keys `keys` out, into a struct that denies unknown fields.
    pub fn take<T: DeserializeOwned>(&mut self, keys: &[&'static str]) -> Result<T> {
        self.known.extend(keys);
        let is_theirs = |(key, _): &(String, Value)| keys.contains(&key.as_str());
        let (theirs, rest): (Map<_, _>, Map<_, _>) =
            std::mem::take(&mut self.rest).into_iter().partition(is_theirs);
        self.rest = rest;
        options::read("", theirs.into(), &[])
    }

    /// What has not been taken. An unknown key is an error that names all known ones.
    pub fn rest<T: DeserializeOwned>(self) -> Result<T> {
        options::read("", self.rest.into(), &self.known)
    }
}

/// The options as they are, which must be an object; NULL is an empty one.
pub fn object(options: Option<Jsonb>) -> Result<Value> {
    keys_of("options", options, "{\"threshold\": 0.3}").map(Value::Object)
}

/// The keys of the argument called `name`, which must be an object, for instance `example`; NULL is an
/// empty one.
fn keys_of(name: &str, given: Option<Jsonb>, example: &str) -> Result<Map<String, Value>> {
    match given.map_or_else(|| Value::Object(Map::new()), |json| json.0) {
        Value::Object(keys) => Ok(keys),
        other => {
            let shown: String = other.to_string().chars().take(LONGEST_SHOWN).collect();
            Err(Error::invalid(format!("{name} is not a JSON object: {shown}"))
                .hint(format!("For instance '{example}'.")))
        }
    }
}

/// The keys of an argument `chunking`.
pub fn chunking_keys(given: Option<Jsonb>) -> Result<Map<String, Value>> {
    keys_of("chunking", given, "{\"by\": \"markdown\", \"max_tokens\": 256}")
}
