//! The `options jsonb` argument.

use pgrx::JsonB;
use serde::de::DeserializeOwned;
use serde_json::Value;

use crate::error::{Error, Result};

/// Reads `options` into a struct that denies unknown fields.
///
/// An unknown key is an error that names the known ones; NULL is an empty object.
pub fn read<T: DeserializeOwned>(options: Option<JsonB>) -> Result<T> {
    serde_json::from_value(object(options)?)
        .map_err(|error| Error::invalid(format!("options: {error}")))
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
