//! How are values replaced in a document of JSON, which has to stay one?
//!
//! Only its strings are looked at, so a number stays a number, and names of members stay as they are: they are part of
//! a form, and what they hold is asked for by them.

use serde_json::Value;

use super::redaction::Redaction;

/// The strings of `value`, in its order.
#[must_use]
pub fn strings(value: &Value) -> Vec<&str> {
    match value {
        Value::String(text) => vec![text],
        Value::Array(all) => all.iter().flat_map(strings).collect(),
        Value::Object(all) => all.values().flat_map(strings).collect(),
        _ => Vec::new(),
    }
}

/// Has `redaction` learn the strings of `value`. `interrupt` is called as by [`Redaction::learn`].
pub fn learn(redaction: &mut Redaction, value: &Value, interrupt: &mut dyn FnMut()) {
    strings(value).into_iter().for_each(|text| redaction.learn(text, interrupt));
}

/// Replaces values in the strings of `value`. `interrupt` is called as by [`Redaction::learn`].
pub fn replace(redaction: &mut Redaction, value: &mut Value, interrupt: &mut dyn FnMut()) {
    each_string(value, &mut |text| *text = redaction.replace(text, interrupt));
}

/// Members of a schema that hold what a model reads. The others are part of the form: a changed `pattern` or `format`
/// is another form, or none.
const PROSE: [&str; 6] = ["description", "title", "examples", "default", "enum", "const"];

/// Members of a schema whose own members have names of the document's and hold schemas.
const NAMED: [&str; 5] =
    ["properties", "patternProperties", "dependentSchemas", "$defs", "definitions"];

/// Has `see` see the texts of a JSON schema that a model reads.
pub fn each_text_of_schema(schema: &mut Value, see: &mut dyn FnMut(&mut String)) {
    match schema {
        Value::Array(all) => all.iter_mut().for_each(|it| each_text_of_schema(it, see)),
        Value::Object(all) => {
            for (name, value) in all.iter_mut() {
                match value {
                    value if PROSE.contains(&name.as_str()) => each_string(value, see),
                    Value::Object(named) if NAMED.contains(&name.as_str()) => {
                        named.values_mut().for_each(|it| each_text_of_schema(it, see));
                    }
                    value => each_text_of_schema(value, see),
                }
            }
        }
        _ => {}
    }
}

fn each_string(value: &mut Value, see: &mut dyn FnMut(&mut String)) {
    match value {
        Value::String(text) => see(text),
        Value::Array(all) => all.iter_mut().for_each(|it| each_string(it, see)),
        Value::Object(all) => all.values_mut().for_each(|it| each_string(it, see)),
        _ => {}
    }
}
