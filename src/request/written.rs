//! Options as they are written: a JSON object that has been checked.
//!
//! Of two such objects one is made before values are read out of it, since only what is written says which
//! of its keys are given at all.

use serde_json::{Map, Value};

use super::{QuestionOptions, groups};
use crate::error::Result;
use crate::exact;
use crate::options::{self, out_of_range};

/// The option that has values of columns rather than names and figures.
pub(super) const FILTER: &str = "retrieve.filter";

/// An object of options that has been checked.
///
/// A key that is null has the value of the setting, or what is built in, whatever is written elsewhere. The numbers of
/// the filter are as [`exact::read`] reads them, and all others as a program has them.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct WrittenOptions(Map<String, Value>);

impl WrittenOptions {
    /// Checks `value`, which should be an object. Its numbers may be as [`exact::read`] reads them.
    ///
    /// Fails with an invalid parameter, which names the key: one that is not known, or in the wrong group, and
    /// a value of a wrong type, out of its range, or beside another one that it excludes.
    pub fn read(value: Value) -> Result<WrittenOptions> {
        WrittenOptions::read_beside(value, &[])
    }

    /// As [`read`](WrittenOptions::read), of an object in which the keys `others` may stand, too, and have been
    /// taken out.
    pub fn read_beside(value: Value, others: &[&str]) -> Result<WrittenOptions> {
        let value = rounded("", value)?;
        typed(value.clone(), others)?.check()?;
        match value {
            Value::Object(members) => Ok(WrittenOptions(members)),
            _ => Ok(WrittenOptions::default()),
        }
    }

    /// The members of a checked object.
    pub(super) fn of(members: Map<String, Value>) -> WrittenOptions {
        WrittenOptions(members)
    }

    /// The options, with the values that are built in where nothing else is written.
    pub fn options(&self) -> Result<QuestionOptions> {
        typed(Value::Object(self.0.clone()), &[])
    }

    /// Whether nothing is written.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// The value of `path`, a key or a group and a key: "k", "retrieve.threshold".
    #[must_use]
    pub fn value(&self, path: &str) -> Option<&Value> {
        match path.split_once('.') {
            None => self.0.get(path),
            // All that is in a group that is null is built in.
            Some((group, key)) => match self.0.get(group)? {
                Value::Object(members) => members.get(key),
                other => Some(other),
            },
        }
    }

    /// What is written here, and below it what is written there: key by key in each group.
    #[must_use]
    pub fn over(&self, below: &WrittenOptions) -> WrittenOptions {
        let mut merged = below.0.clone();
        for (key, value) in &self.0 {
            match (merged.get_mut(key), value) {
                (Some(Value::Object(theirs)), Value::Object(own)) if is_group(key) => {
                    theirs.extend(own.clone());
                }
                _ => drop(merged.insert(key.clone(), value.clone())),
            }
        }
        WrittenOptions(merged)
    }

    /// What is written in both in the same way: key by key in each group.
    #[must_use]
    pub fn common(&self, other: &WrittenOptions) -> WrittenOptions {
        let shared = |own: &Map<String, Value>, theirs: &Map<String, Value>| {
            let is_same = |(key, value): &(&String, &Value)| theirs.get(*key) == Some(*value);
            own.iter().filter(is_same).map(|(key, value)| (key.clone(), value.clone())).collect()
        };
        let mut common: Map<String, Value> = shared(&self.0, &other.0);
        for group in groups() {
            let members = |it: &WrittenOptions| it.0.get(group.name)?.as_object().cloned();
            if let (Some(own), Some(theirs)) = (members(self), members(other)) {
                common.insert(group.name.to_owned(), Value::Object(shared(&own, &theirs)));
            }
        }
        WrittenOptions(common)
    }

    /// The object.
    #[must_use]
    pub fn into_json(self) -> Value {
        Value::Object(self.0)
    }
}

fn is_group(key: &str) -> bool {
    groups().iter().any(|group| group.name == key)
}

/// The options of an object, in which null stands for the value that is built in.
fn typed(value: Value, others: &[&str]) -> Result<QuestionOptions> {
    options::read_groups(value, &groups(), others)
}

/// The value of the option `path`, its numbers as a program has them, but for those of the filter. An error for a number
/// that no program has.
fn rounded(path: &str, value: Value) -> Result<Value> {
    match value {
        filter if path == FILTER => Ok(filter),
        Value::Object(members) => {
            let member = |(key, value): (String, Value)| -> Result<(String, Value)> {
                let value = match path {
                    "" => rounded(&key, value)?,
                    group => rounded(&format!("{group}.{key}"), value)?,
                };
                Ok((key, value))
            };
            members.into_iter().map(member).collect::<Result<Map<_, _>>>().map(Value::Object)
        }
        Value::Array(elements) => {
            let element = |(at, value)| rounded(&format!("{path}[{at}]"), value);
            let rounded: Result<Vec<_>> = elements.into_iter().enumerate().map(element).collect();
            rounded.map(Value::Array)
        }
        value => match (exact::number(&value), exact::rounded(&value)) {
            (Some(digits), Value::String(_)) => {
                Err(out_of_range(path, "between -1.8e308 and 1.8e308", digits))
            }
            (_, rounded) => Ok(rounded),
        },
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn read(value: Value) -> WrittenOptions {
        WrittenOptions::read(value).unwrap()
    }

    #[test]
    fn what_two_have_in_common_is_what_both_say() {
        let one = read(
            json!({"k": 3, "llm": "a", "retrieve": {"mmr": 0.5, "candidates": 50}, "verify": {}}),
        );
        let other = read(json!({"k": 4, "llm": "a", "retrieve": {"mmr": 0.5, "candidates": 60}}));
        let common = json!({"llm": "a", "retrieve": {"mmr": 0.5}});
        assert_eq!(one.common(&other).into_json(), common);
        assert_eq!(one.common(&WrittenOptions::default()), WrittenOptions::default());
        assert_eq!(one.common(&one), one);
    }

    #[test]
    fn what_is_wrong_is_named_with_its_place() {
        let check = |value: Value, message: &str, hint: &str| {
            let error = WrittenOptions::read(value.clone()).unwrap_err();
            assert_eq!(error.message(), message, "{value}");
            let said = error.hint_text().unwrap_or_default();
            assert!(said.starts_with(hint), "{value}: {said}");
        };
        check(
            json!({"threshold": 0.3}),
            "unknown option \"threshold\"",
            "It belongs to \"retrieve\": {\"retrieve\": {\"threshold\": ...}}.",
        );
        check(
            json!({"context": {"threshold": 0.3}}),
            "unknown option \"threshold\" of \"context\"",
            "It belongs to \"retrieve\": {\"retrieve\": {\"threshold\": ...}}.",
        );
        check(
            json!({"retrieve": {"treshold": null}}),
            "unknown option \"treshold\" of \"retrieve\"",
            "Did you mean \"threshold\"? Known options: mode, filter, rewrite, rerank, threshold,",
        );
        check(
            json!({"retreive": {}}),
            "unknown option \"retreive\"",
            "Did you mean \"retrieve\"? Known options: k, llm, retrieve, context, answer, verify, cite.",
        );
        check(
            json!({"retrieve": {"threshold": "0.3"}}),
            "option \"retrieve.threshold\" must be a number, not \"0.3\"",
            "It is written without quotes.",
        );
        check(
            json!({"retrieve": {"threshold": 3}}),
            "option \"retrieve.threshold\" must be between -1 and 1, not 3",
            "It is the least cosine similarity",
        );
        check(json!({"retrieve": 3}), "option \"retrieve\" must be an object, not 3", "");
        check(
            json!({"retrieve": {"mode": "sparse"}}),
            "option \"retrieve.mode\" cannot be \"sparse\"",
            "Known values: dense, lexical, hybrid.",
        );
        check(
            json!({"retrieve": {"rewrite": {"n": true}}}),
            "option \"retrieve.rewrite.n\" must be a whole number, 0 or more, not true",
            "",
        );
        check(
            json!({"answer": {"budget": {"call": 1}}}),
            "unknown option \"call\" of \"answer.budget\"",
            "Did you mean \"calls\"?",
        );
        check(json!({"k": 0}), "k must be between 1 and 10000, not 0", "");
        check(json!({"k": 1.5}), "option \"k\" must be a whole number, not 1.5", "");
        check(json!([1]), "options must be an object, not an array", "");
        check(json!({"cite": []}), "option \"cite\" must be an object, not an array", "");
        check(
            json!({"answer": {"budget": [1]}}),
            "option \"answer.budget\" must be an object, not an array",
            "",
        );
        check(
            json!({"answer": {"schema": ["object"]}}),
            "option \"answer.schema\" must be an object, not an array",
            "",
        );
    }

    #[test]
    fn numbers_of_the_filter_have_all_their_digits_and_no_others() {
        let check = |json: &str, expected: Value| {
            let written = WrittenOptions::read(exact::read(json).unwrap());
            assert_eq!(written.unwrap().into_json(), expected, "{json}");
        };
        let digits = "12345678901234567890123.50";
        check(
            &format!(r#"{{"k": 3, "retrieve": {{"mmr": 0.50, "filter": {{"n": [{digits}]}}}}}}"#),
            json!({"k": 3, "retrieve": {"mmr": 0.5, "filter": {"n": [exact::of_digits(digits)]}}}),
        );
        let schema = |enumerated: &str| {
            format!(r#"{{"answer": {{"schema": {{"type": "object", "enum": [{enumerated}]}}}}}}"#)
        };
        let rounded = json!({"answer": {"schema": {"type": "object", "enum": [1.5]}}});
        check(&schema("1.50"), rounded);
        let error = WrittenOptions::read(exact::read(&schema("1, 1e400")).unwrap()).unwrap_err();
        assert_eq!(
            error.message(),
            "option \"answer.schema.enum[1]\" must be between -1.8e308 and 1.8e308, not 1e400"
        );
    }

    #[test]
    fn null_is_what_is_built_in() {
        let written = read(json!({"k": null, "context": null,
            "retrieve": {"threshold": null, "closeness": null, "filter": null}}));
        assert_eq!(written.options().unwrap(), QuestionOptions::default());
    }

    #[test]
    fn keys_are_merged_within_their_groups() {
        let check = |above: Value, below: Value, merged: Value| {
            assert_eq!(read(above).over(&read(below)).into_json(), merged);
        };
        check(json!({}), json!({"k": 3}), json!({"k": 3}));
        check(json!({"k": 4}), json!({"k": 3, "llm": "a"}), json!({"k": 4, "llm": "a"}));
        check(
            json!({"retrieve": {"mmr": 0.5, "filter": {"b": 1}}}),
            json!({"retrieve": {"mmr": 0.4, "dedupe": 1, "filter": {"a": 1}}, "cite": {"style": "footnote"}}),
            json!({"retrieve": {"mmr": 0.5, "dedupe": 1, "filter": {"b": 1}}, "cite": {"style": "footnote"}}),
        );
        check(
            json!({"retrieve": {"rewrite": {"n": 2}}}),
            json!({"retrieve": {"rewrite": {"by": "hyde"}}}),
            json!({"retrieve": {"rewrite": {"n": 2}}}),
        );
        let above = read(json!({"retrieve": {"rerank": null}, "context": null}));
        let below =
            read(json!({"retrieve": {"rerank": "llm", "mmr": 1}, "context": {"headers": ["a"]}}));
        let merged = above.over(&below).options().unwrap();
        assert_eq!((merged.retrieve.rerank, merged.retrieve.mmr), (None, Some(1.0)));
        assert_eq!(merged.context.headers, None);
    }

    #[test]
    fn values_are_found_by_their_path() {
        let written = read(json!({"k": 2, "retrieve": {"mmr": 0.5}, "cite": null}));
        assert_eq!(written.value("k"), Some(&json!(2)));
        assert_eq!(written.value("retrieve.mmr"), Some(&json!(0.5)));
        assert_eq!(written.value("retrieve.dedupe"), None);
        assert_eq!(written.value("cite.style"), Some(&Value::Null));
    }
}
