//! The `options jsonb` argument.

use pgrx::JsonB;
use serde::de::DeserializeOwned;
use serde_json::{Map, Value};

use crate::error::{Error, Result};

/// Reads `options` into a struct that denies unknown fields.
///
/// An unknown key is an error that names the known ones; NULL is an empty object.
pub fn read<T: DeserializeOwned>(options: Option<JsonB>) -> Result<T> {
    parse(object(options)?)
}

/// Reads `options` into two such structs; the second has the keys `of_second`.
pub fn read_both<T: DeserializeOwned, U: DeserializeOwned>(
    options: Option<JsonB>,
    of_second: &[&str],
) -> Result<(T, U)> {
    let is_second = |(key, _): &(String, Value)| of_second.contains(&key.as_str());
    let all = match object(options)? {
        Value::Object(all) => all,
        _ => Map::new(),
    };
    let (second, first): (Map<_, _>, Map<_, _>) = all.into_iter().partition(is_second);
    let first = parse(first.into())
        .map_err(|error: Error| error.hint(format!("Known too: {}.", of_second.join(", "))))?;
    Ok((first, parse(second.into())?))
}

fn parse<T: DeserializeOwned>(object: Value) -> Result<T> {
    serde_json::from_value(object).map_err(|error| Error::invalid(format!("options: {error}")))
}

/// The options as they are, which must be an object; NULL is an empty one.
pub fn object(options: Option<JsonB>) -> Result<Value> {
    let value = options.map_or_else(|| serde_json::json!({}), |json| json.0);
    match value.is_object() {
        true => Ok(value),
        false => Err(Error::invalid(format!("options is not a JSON object: {value}"))
            .hint("For instance '{\"threshold\": 0.3}'.")),
    }
}
