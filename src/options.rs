//! # options: what does this JSON object ask for?
//!
//! ```text
//! (JSON, struct of options) → options │ an error that names the key, the value and what is expected
//! ```
//!
//! serde finds what is wrong; here it is said in the words of those who write SQL. An unknown key is an
//! error that names the known ones, the nearest of them first. A known key that is null has its default, and a null in a
//! list is an error.

use std::fmt;

use serde::de::value::{Error as NoValue, MapDeserializer};
use serde::de::{
    DeserializeOwned, Deserializer, Error as _, IntoDeserializer, Unexpected, Visitor,
};
use serde::forward_to_deserialize_any;
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
    deserialized(name, value, |object, key, known| {
        hint_of_known(key, &with_others(object, known, others))
    })
}

/// As [`read`], of an object called `name` in which the keys `refused` are known and yet of no use, so that the hint
/// leaves them out.
///
/// Fails with an invalid parameter.
pub fn read_without<T: DeserializeOwned>(name: &str, value: Value, refused: &[&str]) -> Result<T> {
    deserialized(name, value, |object, key, known| {
        let is_of_use = |it: &&&str| object != name || !refused.contains(*it);
        let known: Vec<&str> = known.iter().filter(is_of_use).copied().collect();
        hint_of_known(key, &known)
    })
}

/// Reads an object of groups into `T`, each of whose fields that `groups` names is a struct of its own.
/// A key in the wrong place is an error that says in which group it belongs. `others` are keys that may stand
/// beside the groups, for the hint.
///
/// Fails with an invalid parameter.
pub fn read_groups<T: DeserializeOwned>(
    value: Value,
    groups: &[OptionGroup],
    others: &[&str],
) -> Result<T> {
    deserialized("", value, |object, key, known| {
        let is_elsewhere = |it: &&OptionGroup| it.name != object && it.keys.contains(&key);
        match groups.iter().find(is_elsewhere) {
            Some(OptionGroup { name, .. }) => {
                format!("It belongs to \"{name}\": {{\"{name}\": {{\"{key}\": ...}}}}.")
            }
            None => hint_of_all(object, key, &with_others(object, known, others), groups),
        }
    })
}

/// Keys of options that go together.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct OptionGroup {
    /// The key of the group.
    pub name: &'static str,
    /// The keys in it, in the order of its struct.
    pub keys: &'static [&'static str],
}

/// The keys of `T`, a struct that serde reads from an object, in the order of its fields.
pub fn keys<T: DeserializeOwned>() -> &'static [&'static str] {
    let mut keys: &'static [&'static str] = &[];
    // It reads nothing, so that it fails in any case.
    drop(T::deserialize(FieldNames(&mut keys)));
    keys
}

/// The error of an option whose value is not what it must be, such as "between 0 and 1".
pub fn out_of_range(option: &str, range: impl fmt::Display, value: impl fmt::Display) -> Error {
    let value = shortened(&value.to_string());
    Error::invalid(format!("option \"{option}\" must be {range}, not {value}"))
}

/// Takes the names of the fields that a struct asks for, and gives it none.
struct FieldNames<'a>(&'a mut &'static [&'static str]);

impl<'de> Deserializer<'de> for FieldNames<'_> {
    type Error = NoValue;

    fn deserialize_struct<V: Visitor<'de>>(
        self,
        _name: &'static str,
        fields: &'static [&'static str],
        _visitor: V,
    ) -> Result<V::Value, NoValue> {
        *self.0 = fields;
        Err(NoValue::custom("there is no value"))
    }

    fn deserialize_any<V: Visitor<'de>>(self, _visitor: V) -> Result<V::Value, NoValue> {
        Err(NoValue::custom("there is no value"))
    }

    forward_to_deserialize_any! {
        bool i8 i16 i32 i64 u8 u16 u32 u64 f32 f64 char str string bytes byte_buf option unit
        unit_struct newtype_struct seq tuple tuple_struct map enum identifier ignored_any
    }
}

/// A value of which a struct is read without those of its keys that are null: they are as good as missing. Other nulls
/// stay, such as those of a filter or of a schema, which mean something. What stands for a struct may be something else
/// than an object, such as a word, if its visitor takes that.
struct WithoutNulls(Value);

impl<'de> Deserializer<'de> for WithoutNulls {
    type Error = serde_json::Error;

    fn deserialize_struct<V: Visitor<'de>>(
        self,
        _name: &'static str,
        fields: &'static [&'static str],
        visitor: V,
    ) -> Result<V::Value, serde_json::Error> {
        let members = match self.0 {
            Value::Object(members) => members,
            // Its elements would be taken for the fields, in their order.
            Value::Array(_) => {
                return Err(serde_json::Error::invalid_type(Unexpected::Seq, &visitor));
            }
            other => return other.deserialize_any(visitor),
        };
        let is_said = |member: &(String, Value)| {
            let (key, value) = member;
            !(value.is_null() && fields.contains(&key.as_str()))
        };
        let said = members.into_iter().filter(is_said);
        visitor.visit_map(MapDeserializer::new(said.map(|(key, value)| (key, WithoutNulls(value)))))
    }

    fn deserialize_option<V: Visitor<'de>>(
        self,
        visitor: V,
    ) -> Result<V::Value, serde_json::Error> {
        match self.0 {
            Value::Null => visitor.visit_none(),
            value => visitor.visit_some(WithoutNulls(value)),
        }
    }

    fn deserialize_newtype_struct<V: Visitor<'de>>(
        self,
        _name: &'static str,
        visitor: V,
    ) -> Result<V::Value, serde_json::Error> {
        visitor.visit_newtype_struct(self)
    }

    fn deserialize_enum<V: Visitor<'de>>(
        self,
        name: &'static str,
        variants: &'static [&'static str],
        visitor: V,
    ) -> Result<V::Value, serde_json::Error> {
        self.0.deserialize_enum(name, variants, visitor)
    }

    fn deserialize_any<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, serde_json::Error> {
        self.0.deserialize_any(visitor)
    }

    forward_to_deserialize_any! {
        bool i8 i16 i32 i64 u8 u16 u32 u64 f32 f64 char str string bytes byte_buf unit unit_struct
        seq tuple tuple_struct map identifier ignored_any
    }
}

impl IntoDeserializer<'_, serde_json::Error> for WithoutNulls {
    type Deserializer = Self;

    fn into_deserializer(self) -> Self {
        self
    }
}

/// What is deserialized; `hint` makes the hint of an unknown key, of the object that it is in, the key, and
/// the keys that are known there.
fn deserialized<T: DeserializeOwned>(
    name: &str,
    value: Value,
    hint: impl Fn(&str, &str, &[&str]) -> String,
) -> Result<T> {
    serde_path_to_error::deserialize(WithoutNulls(value)).map_err(|error| {
        let path = error.path().to_string();
        let inner = error.inner().to_string();
        let place = match (name, path.as_str()) {
            (name, ".") => name.to_owned(),
            ("", path) => path.to_owned(),
            (name, path) if path.starts_with('[') => format!("{name}{path}"),
            (name, path) => format!("{name}.{path}"),
        };
        explained(&place, &inner, hint)
    })
}

/// What serde says of the value at `place`, in other words.
fn explained(place: &str, said: &str, hint: impl Fn(&str, &str, &[&str]) -> String) -> Error {
    if let Some((key, known)) = said.strip_prefix("unknown field ").and_then(quoted) {
        let object = place.strip_suffix(key).unwrap_or(place).trim_end_matches('.');
        return unknown_key(object, key).hint(hint(object, key, &quoted_all(known)));
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
    unknown_key(name, key).hint(hint_of_known(key, &known))
}

/// An error about the key `key` of `object`, which is empty for the options themselves.
fn unknown_key(object: &str, key: &str) -> Error {
    let within = match object {
        "" => String::new(),
        object => format!(" of \"{object}\""),
    };
    Error::invalid(format!("unknown option \"{}\"{within}", shortened(key)))
}

/// The keys that are known in `object`: the options themselves may have others.
fn with_others<'a>(object: &str, known: &[&'a str], others: &[&'a str]) -> Vec<&'a str> {
    match object {
        "" => [known, others].concat(),
        _ => known.to_vec(),
    }
}

fn hint_of_known(key: &str, known: &[&str]) -> String {
    hint_of_names("options", key, known)
}

/// The hint of an error about `name`, which is not among the `known` ones: those, which are called `what`,
/// and before them the one that is meant, where that can be told.
pub fn hint_of_names(what: &str, name: &str, known: &[&str]) -> String {
    did_you_mean(name, known) + &listed(what, known)
}

/// As [`hint_of_known`], but a key of another group may be meant as well, if none of the object's own is.
fn hint_of_all(object: &str, key: &str, known: &[&str], groups: &[OptionGroup]) -> String {
    let own = did_you_mean(key, known);
    let others = groups.iter().filter(|it| it.name != object);
    let mut meant = others.filter_map(|it| Some((it.name, nearest(key, it.keys)?)));
    match (own.as_str(), meant.next()) {
        ("", Some((name, near))) => {
            let known = listed("options", known);
            format!("Did you mean {{\"{name}\": {{\"{near}\": ...}}}}? {known}")
        }
        _ => own + &listed("options", known),
    }
}

fn listed(what: &str, known: &[&str]) -> String {
    match known {
        [] => "There are none.".to_owned(),
        _ => format!("Known {what}: {}.", known.join(", ")),
    }
}

fn did_you_mean(name: &str, known: &[&str]) -> String {
    nearest(name, known).map_or_else(String::new, |it| format!("Did you mean \"{it}\"? "))
}

/// The known name that `name` is a slip of the pen for.
fn nearest<'a>(name: &str, known: &[&'a str]) -> Option<&'a str> {
    // No slip of the pen is that long, and the time goes with the length.
    if name.len() > LONGEST_SHOWN {
        return None;
    }
    let similarity = |known: &&str| strsim::jaro_winkler(&name.to_lowercase(), known);
    let nearest = known.iter().map(|it| (similarity(it), *it)).max_by(|a, b| a.0.total_cmp(&b.0));
    nearest.filter(|(similarity, _)| *similarity >= SIMILAR).map(|(_, name)| name)
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
        "string or map" => "a string",
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

/// The beginning of a text that may be long.
pub fn shortened(text: &str) -> String {
    match text.char_indices().nth(LONGEST_SHOWN) {
        None => text.to_owned(),
        Some((end, _)) => format!("{}...", &text[..end]),
    }
}

#[cfg(test)]
pub(crate) mod tests {
    use serde::Deserialize;
    use serde_json::json;

    use super::*;

    /// `options` are read, and then checked by `checked`, as it is expected; an error by its message.
    pub fn check_read<Options: DeserializeOwned>(
        options: Value,
        checked: fn(Options) -> Result<Options>,
        expected: Result<(), &str>,
    ) {
        let read = read::<Options>("", options, &[]).and_then(checked).map(drop);
        assert_eq!(
            read.map_err(|error| error.message().to_owned()),
            expected.map_err(str::to_owned)
        );
    }

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
        check(json!({"order": 1}), "option \"order\" must be a string, not 1", None);
        check(json!({"budget": 3}), "option \"budget\" must be an object, not 3", None);
        for list in [json!([3]), json!([null]), json!([])] {
            let message = "option \"budget\" must be an object, not an array";
            check(json!({"budget": list}), message, None);
            check(list, "options must be an object, not an array", None);
        }
        check(
            json!({"budget": {"calls": "many"}}),
            "option \"budget.calls\" must be a whole number, 0 or more, not \"many\"",
            None,
        );
        check(json!({"names": {}}), "option \"names\" must be an array, not an object", None);
        check(json!({"names": ["a", 1]}), "option \"names[1]\" must be a string, not 1", None);
    }

    #[test]
    fn a_known_key_that_is_null_has_its_default() {
        let nulls = json!({"temperature": null, "max_tokens": null, "is_late": null, "order": null,
            "budget": {"calls": null}, "names": null});
        let given = read::<Given>("", nulls, &[]).unwrap();
        assert_eq!((given.temperature, given.is_late, given.budget.calls), (0.0, false, 0));
        assert!(given.max_tokens.is_none() && given.order.is_none() && given.names.is_empty());
        let given = read::<Given>("", json!({"budget": null, "max_tokens": 3}), &[]).unwrap();
        assert_eq!(given.max_tokens, Some(3));
        check(
            json!({"temprature": null}),
            "unknown option \"temprature\"",
            Some(
                "Did you mean \"temperature\"? Known options: temperature, max_tokens, is_late, order, budget, names, k.",
            ),
        );
        check(json!({"names": [null]}), "option \"names[0]\" must be a string, not null", None);
    }

    #[test]
    fn a_key_of_no_use_is_not_among_the_known_ones() {
        let error = read_without::<Budget>("budget", json!({"cals": 1}), &["calls"]).unwrap_err();
        assert_eq!(error.hint_text(), Some("There are none."));
        let refused = ["budget"];
        let error = read_without::<Given>("given", json!({"x": 1}), &refused).unwrap_err();
        assert_eq!(
            error.hint_text(),
            Some("Known options: temperature, max_tokens, is_late, order, names.")
        );
        let nested = json!({"budget": {"cals": 1}});
        let error = read_without::<Given>("given", nested, &refused).unwrap_err();
        assert_eq!(error.hint_text(), Some("Did you mean \"calls\"? Known options: calls."));
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
        let error = read::<Vec<String>>("names", json!(["a", 1]), &[]).unwrap_err();
        assert_eq!(error.message(), "option \"names[1]\" must be a string, not 1");
    }

    #[derive(Debug, Default, Deserialize)]
    #[serde(deny_unknown_fields, default)]
    #[allow(dead_code)]
    struct Grouped {
        k: u32,
        given: Given,
        budget: Budget,
    }

    #[test]
    fn a_key_in_the_wrong_group_is_shown_its_own() {
        let groups = [
            OptionGroup { name: "given", keys: keys::<Given>() },
            OptionGroup { name: "budget", keys: keys::<Budget>() },
        ];
        let check = |value: Value, message: &str, hint: &str| {
            let error = read_groups::<Grouped>(value, &groups, &[]).unwrap_err();
            assert_eq!(error.message(), message);
            assert_eq!(error.hint_text(), Some(hint));
        };
        check(
            json!({"calls": 1}),
            "unknown option \"calls\"",
            "It belongs to \"budget\": {\"budget\": {\"calls\": ...}}.",
        );
        check(
            json!({"given": {"calls": 1}}),
            "unknown option \"calls\" of \"given\"",
            "It belongs to \"budget\": {\"budget\": {\"calls\": ...}}.",
        );
        check(
            json!({"budget": {"cals": 1}}),
            "unknown option \"cals\" of \"budget\"",
            "Did you mean \"calls\"? Known options: calls.",
        );
        check(
            json!({"temprature": 1}),
            "unknown option \"temprature\"",
            "Did you mean {\"given\": {\"temperature\": ...}}? Known options: k, given, budget.",
        );
        check(json!({"xyz": 1}), "unknown option \"xyz\"", "Known options: k, given, budget.");
    }

    #[test]
    fn the_keys_of_a_struct_are_those_that_it_reads() {
        assert_eq!(keys::<Grouped>(), ["k", "given", "budget"]);
        assert!(keys::<u32>().is_empty());
    }

    #[test]
    fn long_values_are_cut() {
        let error = read::<Given>("", json!({"max_tokens": "x".repeat(10_000)}), &[]).unwrap_err();
        assert!(error.message().len() < 200, "{error}");
    }
}
