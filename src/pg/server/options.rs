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
    options.map_or_else(|| Ok(serde_json::json!({})), |given| object_called("options", given))
}

/// The argument `name` as it is, which must be an object.
pub fn object_called(name: &str, Jsonb(value): Jsonb) -> Result<Value> {
    match value.is_object() {
        true => Ok(value),
        false => {
            let shown: String = value.to_string().chars().take(LONGEST_SHOWN).collect();
            Err(Error::invalid(format!("{name} is not a JSON object: {shown}"))
                .hint("An object is written as '{\"key\": \"value\"}'."))
        }
    }
}
