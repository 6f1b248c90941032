//! How are values replaced in a document of JSON, which has to stay one?
//!
//! Only its strings are looked at, so a number stays a number, and names of members stay as they are: they are part of
//! a form, and what they hold is asked for by them.

use serde_json::Value;

use super::redaction::Redaction;

/// Has `redaction` learn the strings of `value`. `interrupt` is called as by [`Redaction::learn`].
pub fn learn(redaction: &mut Redaction, value: &Value, interrupt: &mut dyn FnMut()) {
    match value {
        Value::String(text) => redaction.learn(text, interrupt),
        Value::Array(all) => all.iter().for_each(|value| learn(redaction, value, interrupt)),
        Value::Object(all) => all.values().for_each(|value| learn(redaction, value, interrupt)),
        _ => {}
    }
}

/// Replaces values in the strings of `value`. `interrupt` is called as by [`Redaction::learn`].
pub fn replace(redaction: &mut Redaction, value: &mut Value, interrupt: &mut dyn FnMut()) {
    match value {
        Value::String(text) => *text = redaction.replace(text, interrupt),
        Value::Array(all) => {
            all.iter_mut().for_each(|value| replace(redaction, value, interrupt));
        }
        Value::Object(all) => {
            all.values_mut().for_each(|value| replace(redaction, value, interrupt));
        }
        _ => {}
    }
}
