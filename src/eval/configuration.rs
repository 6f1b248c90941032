//! What is compared: named sets of options of a question, each with its pipeline.
//!
//! ```text
//! {"hybrid": {}, "dense": {"retrieve": {"mode": "dense"}}, "small chunks": {"pipeline": "docs_128"}}
//! {"quoted": {}, "written": {"llm": "claude", "answer": {"strategy": "refine"}}}
//! ```

use std::fmt;

use serde::de::{MapAccess, Visitor};
use serde::{Deserialize, Deserializer};
use serde_json::{Value, json};

use crate::error::{Error, Result};
use crate::exact;
use crate::request::WrittenOptions;

/// Most configurations of one evaluation.
const MOST: usize = 100;

/// The key that a configuration has beside options.
const PIPELINE: &str = "pipeline";

/// Options that are of one question.
const OF_ONE_QUESTION: [&str; 2] = ["answer.conversation", "answer.history"];

/// Options under a name.
#[derive(Clone, Debug, PartialEq)]
pub struct Configuration {
    /// What it is called in the results.
    pub name: String,
    /// The pipeline, if not that of the evaluation.
    pub pipeline: Option<String>,
    /// What is different from the defaults of the pipeline, and from what is built in.
    pub options: WrittenOptions,
}

impl Configuration {
    /// Whether nothing is different from the defaults.
    pub fn is_default(&self) -> bool {
        self.pipeline.is_none() && self.options.is_empty()
    }

    /// How many chunks are found, if the configuration says so.
    pub fn k(&self) -> Option<i32> {
        self.options.value("k").and_then(Value::as_i64).and_then(|k| i32::try_from(k).ok())
    }

    /// The options with which questions are answered. Citations are as they are written, or they could
    /// not be compared.
    pub fn answer_options(&self) -> Result<WrittenOptions> {
        let inline = WrittenOptions::read(json!({"cite": {"style": "inline"}}))?;
        Ok(inline.over(&self.options))
    }

    fn read(name: String, mut value: Value) -> Result<Configuration> {
        let pipeline = value.as_object_mut().and_then(|members| members.remove(PIPELINE));
        let pipeline = match pipeline {
            None | Some(Value::Null) => None,
            Some(Value::String(pipeline)) => Some(pipeline),
            Some(other) => {
                let other = exact::written(&other);
                let message = format!("option \"{PIPELINE}\" must be a string, not {other}");
                return Err(Error::invalid(message));
            }
        };
        let options = WrittenOptions::read_beside(value, &[PIPELINE])?;
        let is_said = |path: &&str| options.value(path).is_some_and(|it| !it.is_null());
        if let Some(path) = OF_ONE_QUESTION.into_iter().find(is_said) {
            let message = format!("option \"{path}\" cannot be evaluated");
            return Err(Error::invalid(message)
                .hint("The questions of a set are asked each by itself, in no conversation."));
        }
        Ok(Configuration { name, pipeline, options })
    }
}

/// The members of a JSON object in the order in which they are written, with all digits of their numbers.
pub(super) fn members(json: &str) -> serde_json::Result<Vec<(String, Value)>> {
    let read = serde_json::from_str::<Members>(&exact::marked(json));
    // An error names a place in the JSON as it is written.
    read.or_else(|_| serde_json::from_str(json)).map(|Members(members)| members)
}

struct Members(Vec<(String, Value)>);

impl<'de> Deserialize<'de> for Members {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> std::result::Result<Self, D::Error> {
        struct InOrder;
        impl<'de> Visitor<'de> for InOrder {
            type Value = Members;

            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("an object of objects of options")
            }

            fn visit_map<A: MapAccess<'de>>(
                self,
                mut map: A,
            ) -> std::result::Result<Members, A::Error> {
                let mut members = Vec::new();
                while let Some(member) = map.next_entry()? {
                    members.push(member);
                }
                Ok(Members(members))
            }
        }
        deserializer.deserialize_map(InOrder)
    }
}

/// Reads configurations, in the order in which they are written: the first is the one that the
/// others are compared with.
pub fn parse(json: &str) -> Result<Vec<Configuration>> {
    let hint = "For instance {\"hybrid\": {}, \"dense\": {\"retrieve\": {\"mode\": \"dense\"}}}.";
    let members = members(json)
        .map_err(|error| Error::invalid(format!("configurations: {error}")).hint(hint))?;
    if members.is_empty() {
        return Err(Error::invalid("configurations is empty").hint(hint));
    }
    if members.len() > MOST {
        let count = members.len();
        return Err(Error::invalid(format!("{count} configurations are more than {MOST}")));
    }
    let mut configurations: Vec<Configuration> = Vec::with_capacity(members.len());
    for (name, arguments) in members {
        if configurations.iter().any(|known| known.name == name) {
            return Err(Error::invalid(format!("two configurations are called \"{name}\"")));
        }
        configurations.push(read(&name, arguments)?);
    }
    Ok(configurations)
}

/// The configuration called `name` with `arguments`, the options of a question and its pipeline. An error
/// says which configuration it is about.
pub(super) fn read(name: &str, arguments: Value) -> Result<Configuration> {
    Configuration::read(name.to_owned(), arguments).map_err(|error| {
        let usual = "A configuration has the options of a question, such as {\"retrieve\": {\"mode\": \"dense\"}}, and its pipeline.";
        let hint = error.hint_text().unwrap_or(usual);
        Error::invalid(format!("configuration \"{name}\": {}", error.message())).hint(hint)
    })
}

/// Both filters together. For a column that is in both, what `case` says counts.
pub fn merged_filter(own: Option<&Value>, case: Option<&Value>) -> Option<Value> {
    match (own, case) {
        (Some(Value::Object(own)), Some(Value::Object(case))) => {
            let mut both = own.clone();
            both.extend(case.clone());
            Some(Value::Object(both))
        }
        (own, case) => case.or(own).cloned(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn configurations_keep_their_order() {
        let parsed =
            parse(r#"{"zz": {}, "a": {"retrieve": {"mode": "dense"}, "k": 7, "pipeline": "p"}}"#)
                .unwrap();
        let names: Vec<&str> = parsed.iter().map(|it| it.name.as_str()).collect();
        assert_eq!(names, ["zz", "a"]);
        assert!(parsed[0].is_default() && !parsed[1].is_default());
        assert_eq!((parsed[0].k(), parsed[1].k()), (None, Some(7)));
        assert_eq!(parsed[1].options.value("retrieve.mode"), Some(&json!("dense")));
        assert_eq!(parsed[1].pipeline.as_deref(), Some("p"));
    }

    #[test]
    fn numbers_of_filters_have_all_their_digits() {
        let digits = "12345678901234567890123.50";
        let configurations = parse(&format!(
            r#"{{"a": {{"retrieve": {{"mmr": 0.50, "filter": {{"n": {{"in": [{digits}]}}}}}}}}}}"#
        ));
        let configuration = &configurations.unwrap()[0];
        let filter = json!({"n": {"in": [exact::of_digits(digits)]}});
        assert_eq!(configuration.options.value("retrieve.filter"), Some(&filter));
        assert_eq!(configuration.options.value("retrieve.mmr"), Some(&json!(0.5)));
        let answered = configuration.answer_options().unwrap().options().unwrap();
        assert_eq!(answered.retrieve.filter, Some(filter));
    }

    #[test]
    fn what_is_wrong_is_named() {
        let check = |json: &str, message: &str, hint: &str| {
            let error = parse(json).unwrap_err();
            assert!(error.message().contains(message), "{json}: {error}");
            assert!(error.hint_text().unwrap().contains(hint), "{json}: {:?}", error.hint_text());
        };
        check("{}", "configurations is empty", "For instance");
        check("[]", "configurations: invalid type: sequence, expected an object", "For instance");
        check(r#"{"a": {"k": 0}}"#, "configuration \"a\": k must be between", "has the options");
        check(
            r#"{"a": {"mode": "dense"}}"#,
            "configuration \"a\": unknown option \"mode\"",
            "It belongs to \"retrieve\": {\"retrieve\": {\"mode\": ...}}.",
        );
        check(
            r#"{"a": {"pipelin": "b"}}"#,
            "configuration \"a\": unknown option \"pipelin\"",
            "Did you mean \"pipeline\"? Known options: k, llm, retrieve, context, answer, verify, cite, pipeline.",
        );
        check(
            r#"{"a": {"retrieve": {"mode": 1}}}"#,
            "configuration \"a\": option \"retrieve.mode\"",
            "has the options",
        );
        check(
            r#"{"a": {"pipeline": 1}}"#,
            "option \"pipeline\" must be a string, not 1",
            "options",
        );
        check(
            r#"{"a": {"answer": {"conversation": "0"}}}"#,
            "configuration \"a\": option \"answer.conversation\" cannot be evaluated",
            "asked each by itself",
        );
        check(
            r#"{"a": {"answer": {"history": []}}}"#,
            "configuration \"a\": option \"answer.history\" cannot be evaluated",
            "asked each by itself",
        );
        assert!(parse(r#"{"a": {"answer": {"conversation": null, "history": null}}}"#).is_ok());
        check(r#"{"a": 1}"#, "configuration \"a\": options must be an object, not 1", "options");
        check(
            r#"{"a": {"retrieve": {"mmr": 1e400}}}"#,
            "configuration \"a\": option \"retrieve.mmr\" must be between -1.8e308 and 1.8e308, not 1e400",
            "options",
        );
        check(r#"{"a": {"k": 1.50}, "b"}"#, "expected `:` at line 1 column 23", "For instance");
        let twice = parse(r#"{"a": {}, "a": {}}"#).unwrap_err();
        assert_eq!(twice.message(), "two configurations are called \"a\"");
    }

    #[test]
    fn citations_are_compared_as_they_are_written() {
        let parsed = parse(
            r#"{"a": {"cite": {"style": "footnote", "source_column": "b"}, "verify": {"by": "none"}}}"#,
        )
        .unwrap();
        assert_eq!(
            parsed[0].answer_options().unwrap().into_json(),
            json!({"cite": {"style": "inline", "source_column": "b"}, "verify": {"by": "none"}})
        );
    }

    #[test]
    fn filters_add_up() {
        let check = |own: Option<Value>, case: Option<Value>, both: Option<Value>| {
            assert_eq!(merged_filter(own.as_ref(), case.as_ref()), both);
        };
        check(None, None, None);
        check(Some(json!({"a": 1})), None, Some(json!({"a": 1})));
        check(None, Some(json!({"a": 1})), Some(json!({"a": 1})));
        let (own, case) = (json!({"a": 1, "b": 1}), json!({"b": 2, "c": 2}));
        check(Some(own), Some(case), Some(json!({"a": 1, "b": 2, "c": 2})));
    }
}
