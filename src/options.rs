//! # options: what does this JSON object ask for?
//!
//! ```text
//! (JSON, struct of options) → options │ an error that names the key, the value and what is expected
//! ```
//!
//! serde finds what is wrong; here it is said in the words of those who write SQL. An unknown key is an
//! error that names the known ones, the nearest of them first.

use serde::de::DeserializeOwned;
use serde_json::Value;

use crate::error::{Error, Result};

/// Characters that an error shows of a value.
const LONGEST_SHOWN: usize = 80;

/// Least similarity, from 0 to 1, of a known name to one that is taken for a slip of the pen.
const SIMILAR: f64 = 0.8;

/// Reads `value` into `T`, which should deny unknown fields. `name` is what the value is called, an empty
/// text for the options themselves. `others` are keys that are known elsewhere, for the hint.
///
/// Fails with an invalid parameter.
pub fn read<T: DeserializeOwned>(name: &str, value: Value, others: &[&str]) -> Result<T> {
    serde_path_to_error::deserialize(value).map_err(|error| {
        let path = error.path().to_string();
        let inner = error.inner().to_string();
        let place = match (name, path.as_str()) {
            (name, ".") => name.to_owned(),
            ("", path) => path.to_owned(),
            (name, path) => format!("{name}.{path}"),
        };
        explained(&place, &inner, others)
    })
}

/// What serde says of the value at `place`, in other words.
fn explained(place: &str, said: &str, others: &[&str]) -> Error {
    if let Some((key, known)) = said.strip_prefix("unknown field ").and_then(quoted) {
        return unknown_key(place, key, quoted_all(known), others);
    }
    let subject = match place {
        "" => "options".to_owned(),
        place => format!("option \"{place}\""),
    };
    if let Some((variant, known)) = said.strip_prefix("unknown variant ").and_then(quoted) {
        let known = quoted_all(known);
        return Error::invalid(format!("{subject} cannot be \"{}\"", shortened(variant)))
            .hint(format!("{}Known values: {}.", did_you_mean(variant, &known), known.join(", ")));
    }
    if let Some((field, _)) = said.strip_prefix("missing field ").and_then(quoted) {
        return Error::invalid(format!("{subject} needs the key \"{field}\""));
    }
    let mistaken = ["invalid type: ", "invalid value: "];
    let mistaken = mistaken.iter().find_map(|start| said.strip_prefix(start));
    if let Some((value, expected)) = mistaken.and_then(|rest| rest.rsplit_once(", expected ")) {
        let error =
            Error::invalid(format!("{subject} must be {}, not {}", kind(expected), shown(value)));
        return match is_quoted(value, expected) {
            true => error.hint("It is written without quotes."),
            false => error,
        };
    }
    Error::invalid(format!("{subject}: {said}"))
}

/// An error that says which keys of the object called `name` are known, where `key` is not among them.
pub fn unknown_key_of(name: &str, key: &str, known: Vec<&str>) -> Error {
    unknown_key(&format!("{name}.{key}"), key, known, &[])
}

/// `place` ends with the key itself.
fn unknown_key<'a>(place: &str, key: &str, mut known: Vec<&'a str>, others: &[&'a str]) -> Error {
    let object = place.strip_suffix(key).unwrap_or(place).trim_end_matches('.');
    let within = match object {
        "" => String::new(),
        object => format!(" of \"{object}\""),
    };
    if object.is_empty() {
        known.extend(others);
    }
    let list = match known.as_slice() {
        [] => "There are none.".to_owned(),
        _ => format!("Known options: {}.", known.join(", ")),
    };
    Error::invalid(format!("unknown option \"{}\"{within}", shortened(key)))
        .hint(did_you_mean(key, &known) + &list)
}

fn did_you_mean(name: &str, known: &[&str]) -> String {
    let similarity = |known: &&str| strsim::jaro_winkler(&name.to_lowercase(), known);
    let nearest = known.iter().map(|it| (similarity(it), *it)).max_by(|a, b| a.0.total_cmp(&b.0));
    match nearest {
        Some((similarity, nearest)) if similarity >= SIMILAR => {
            format!("Did you mean \"{nearest}\"? ")
        }
        _ => String::new(),
    }
}

/// The text between the first two backticks, and what comes after them.
fn quoted(text: &str) -> Option<(&str, &str)> {
    text.strip_prefix('`')?.split_once('`')
}

/// All texts between backticks.
fn quoted_all(text: &str) -> Vec<&str> {
    text.split('`').skip(1).step_by(2).collect()
}

/// What serde expects, as users know it.
fn kind(expected: &str) -> &str {
    match expected {
        "a boolean" => "true or false",
        "f32" | "f64" => "a number",
        "a string" => "a string",
        "a sequence" => "an array",
        "a map" => "an object",
        "string or map" => "a string or an object",
        _ if is_whole(expected) && expected.starts_with('u') => "a whole number, 0 or more",
        _ if is_whole(expected) => "a whole number",
        _ if expected.starts_with("struct ") || expected.starts_with("internally tagged") => {
            "an object"
        }
        other => other,
    }
}

fn is_whole(expected: &str) -> bool {
    let size = expected.strip_prefix(['u', 'i']).unwrap_or_default();
    ["8", "16", "32", "64", "128", "size"].contains(&size)
}

/// Whether `value` is what is expected, but for the quotes around it.
fn is_quoted(value: &str, expected: &str) -> bool {
    let Some(text) = value.strip_prefix("string ").map(|it| it.trim_matches('"')) else {
        return false;
    };
    match expected {
        "a boolean" => text.parse::<bool>().is_ok(),
        "f32" | "f64" => text.parse::<f64>().is_ok(),
        _ => is_whole(expected) && text.parse::<i64>().is_ok(),
    }
}

/// A value as serde names it, as it was written: `string "a"` is "a", and integer `5` is 5.
fn shown(value: &str) -> String {
    let names = ["string ", "integer ", "floating point ", "boolean ", "character "];
    let bare = names.iter().find_map(|name| value.strip_prefix(name));
    match (bare, value) {
        (Some(bare), _) => shortened(bare.trim_matches('`')),
        (None, "map") => "an object".to_owned(),
        (None, "sequence") => "an array".to_owned(),
        (None, other) => shortened(other),
    }
}

fn shortened(text: &str) -> String {
    match text.char_indices().nth(LONGEST_SHOWN) {
        None => text.to_owned(),
        Some((end, _)) => format!("{}...", &text[..end]),
    }
}

#[cfg(test)]
mod tests {
    use serde::Deserialize;
    use serde_json::json;

    use super::*;

    #[derive(Debug, Default, Deserialize)]
    #[serde(deny_unknown_fields, default)]
    #[allow(dead_code)]
    struct Given {
        temperature: f32,
        max_tokens: Option<u32>,
        is_late: bool,
        order: Option<Order>,
        budget: Budget,
        names: Vec<String>,
    }

    #[derive(Debug, Default, Deserialize)]
    #[serde(deny_unknown_fields, default)]
    #[allow(dead_code)]
    struct Budget {
        calls: u32,
    }

    #[derive(Debug, Deserialize)]
    #[serde(rename_all = "snake_case")]
    enum Order {
        Relevance,
        UCurve,
    }

    fn check(value: Value, message: &str, hint: Option<&str>) {
        let error = read::<Given>("", value, &["k"]).unwrap_err();
        assert_eq!(error.message(), message);
        assert_eq!(error.hint_text(), hint);
    }

    #[test]
    fn an_unknown_key_is_named_with_the_nearest_one() {
        check(
            json!({"temprature": 1}),
            "unknown option \"temprature\"",
            Some(
                "Did you mean \"temperature\"? Known options: temperature, max_tokens, is_late, order, budget, names, k.",
            ),
        );
        check(
            json!({"budget": {"call": 1}}),
            "unknown option \"call\" of \"budget\"",
            Some("Did you mean \"calls\"? Known options: calls."),
        );
        check(
            json!({"xyz": 1}),
            "unknown option \"xyz\"",
            Some("Known options: temperature, max_tokens, is_late, order, budget, names, k."),
        );
    }

    #[test]
    fn a_wrong_value_is_named_with_its_key_and_what_is_expected() {
        let quotes = Some("It is written without quotes.");
        check(
            json!({"temperature": "0.3"}),
            "option \"temperature\" must be a number, not \"0.3\"",
            quotes,
        );
        check(
            json!({"max_tokens": 1.5}),
            "option \"max_tokens\" must be a whole number, 0 or more, not 1.5",
            None,
        );
        check(
            json!({"max_tokens": -1}),
            "option \"max_tokens\" must be a whole number, 0 or more, not -1",
            None,
        );
        check(json!({"is_late": 1}), "option \"is_late\" must be true or false, not 1", None);
        check(json!({"is_late": null}), "option \"is_late\" must be true or false, not null", None);
        check(json!({"budget": 3}), "option \"budget\" must be an object, not 3", None);
        check(
            json!({"budget": {"calls": "many"}}),
            "option \"budget.calls\" must be a whole number, 0 or more, not \"many\"",
            None,
        );
        check(json!({"names": {}}), "option \"names\" must be an array, not an object", None);
        check(json!({"names": ["a", 1]}), "option \"names[1]\" must be a string, not 1", None);
    }

    #[test]
    fn a_word_that_is_none_of_the_known_ones_is_named_with_them() {
        check(
            json!({"order": "u-curve"}),
            "option \"order\" cannot be \"u-curve\"",
            Some("Did you mean \"u_curve\"? Known values: relevance, u_curve."),
        );
    }

    #[test]
    fn a_value_inside_of_another_is_called_by_both() {
        let error = read::<Budget>("contextual", json!({"calls": []}), &[]).unwrap_err();
        assert_eq!(
            error.message(),
            "option \"contextual.calls\" must be a whole number, 0 or more, not an array"
        );
        let error = read::<Budget>("contextual", json!({"server": 1}), &[]).unwrap_err();
        assert_eq!(error.message(), "unknown option \"server\" of \"contextual\"");
    }

    #[test]
    fn long_values_are_cut() {
        let error = read::<Given>("", json!({"max_tokens": "x".repeat(10_000)}), &[]).unwrap_err();
        assert!(error.message().len() < 200, "{error}");
    }
}
