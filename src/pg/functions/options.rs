//! The `options jsonb` argument.

use pgrx::JsonB;
use serde::de::DeserializeOwned;

use crate::error::{Error, Result};

/// Reads `options` into a struct that denies unknown fields.
///
/// An unknown key is an error that names the known ones; NULL is an empty object.
pub fn read<T: DeserializeOwned>(options: Option<JsonB>) -> Result<T> {
    let value = options.map_or_else(|| serde_json::json!({}), |json| json.0);
    if !value.is_object() {
        return Err(Error::invalid(format!("options is not a JSON object: {value}"))
            .hint("For instance '{\"threshold\": 0.3}'."));
    }
    serde_json::from_value(value).map_err(|error| Error::invalid(format!("options: {error}")))
}
