//! What is compared: named sets of arguments of `rag_retrieve`, or of `rag_answer`.
//!
//! ```text
//! {"hybrid": {}, "dense": {"mode": "dense"}, "small chunks": {"pipeline": "docs_128"}}
//! {"quoted": {}, "written": {"llm": "claude", "strategy": "refine"}}
//! ```

use std::fmt;

use serde::de::{MapAccess, Visitor};
use serde::{Deserialize, Deserializer};
use serde_json::{Map, Value, json};

use crate::error::{Error, Result};
use crate::options;
use crate::retrieve::RetrieveOptions;

/// Most configurations of one evaluation.
const MOST: usize = 100;

/// Arguments under a name.
#[derive(Clone, Debug, PartialEq)]
pub struct Configuration {
    /// What it is called in the results.
    pub name: String,
    /// What is different from the defaults.
    pub arguments: Arguments,
}

/// Arguments of `rag_retrieve` and `rag_answer`; what is not there has its default.
#[derive(Clone, Debug, Default, PartialEq, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct Arguments {
    /// The pipeline, if not that of the evaluation.
    pub pipeline: Option<String>,
    /// How many chunks are retrieved.
    pub k: Option<i32>,
    /// Dense, lexical or hybrid.
    pub mode: Option<String>,
    /// A filter of the metadata; that of a case has its conditions added.
    pub filter: Option<Value>,
    /// How the question is rewritten.
    pub rewrite: Option<String>,
    /// How what is found is ranked again.
    pub rerank: Option<String>,
    /// All other options, as JSON.
    pub options: Option<Value>,
    /// How the chunks are put to the answerer: the name of a strategy.
    pub strategy: Option<String>,
    /// The language model that answers, and rewrites the question.
    pub llm: Option<String>,
}

impl Arguments {
    /// Whether nothing is different from the defaults.
    pub fn is_default(&self) -> bool {
        *self == Arguments::default()
    }

    /// The options of retrieval alone, where those of answers may be among them.
    pub fn retrieval_options(&self) -> Option<Value> {
        let options = self.options.as_ref()?;
        let Value::Object(members) = options else { return Some(options.clone()) };
        let own = members.iter().filter(|(name, value)| is_of_retrieval(name, value));
        Some(own.map(|(name, value)| (name.clone(), value.clone())).collect::<Map<_, _>>().into())
    }

    /// The options of `rag_answer` that say what `rewrite` and `rerank` say to `rag_retrieve`.
    /// Citations are as they are written, or they could not be compared.
    pub fn answer_options(&self) -> Value {
        let mut options = self.options.clone().unwrap_or_else(|| json!({}));
        let Value::Object(members) = &mut options else { return options };
        if let Some(rerank) = &self.rerank {
            members.insert("rerank".to_owned(), json!(rerank));
        }
        match (&self.rewrite, members.get_mut("rewrite")) {
            (Some(way), Some(Value::Object(given))) => {
                given.insert("way".to_owned(), json!(way));
            }
            (Some(way), None) => {
                members.insert("rewrite".to_owned(), json!(way));
            }
            _ => {}
        }
        members.insert("citation_style".to_owned(), json!("inline"));
        options
    }
}

/// Whether retrieval knows an option of this name. What it does not know is for the answerer, and
/// refused there if it is not known either.
fn is_of_retrieval(name: &str, value: &Value) -> bool {
    let read = serde_json::from_value::<RetrieveOptions>(json!({ name: value }));
    let unknown = format!("unknown field `{name}`");
    !read.is_err_and(|error| error.to_string().starts_with(&unknown))
}

/// The members of a JSON object in the order in which they are written.
struct Members(Vec<(String, Value)>);

impl<'de> Deserialize<'de> for Members {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> std::result::Result<Self, D::Error> {
        struct InOrder;
        impl<'de> Visitor<'de> for InOrder {
            type Value = Members;

            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("an object of objects of arguments")
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
    let hint = "For instance {\"hybrid\": {}, \"dense\": {\"mode\": \"dense\"}}.";
    let Members(members) = serde_json::from_str(json)
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
        let arguments: Arguments = options::read("", arguments, &[]).map_err(|error| {
            let usual = "A configuration has arguments of rag_retrieve or rag_answer, such as {\"mode\": \"dense\"}.";
            let hint = error.hint_text().unwrap_or(usual);
            Error::invalid(format!("configuration \"{name}\": {}", error.message())).hint(hint)
        })?;
        configurations.push(Configuration { name, arguments });
    }
    Ok(configurations)
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
            parse(r#"{"zz": {}, "a": {"mode": "dense", "k": 7, "pipeline": "p"}}"#).unwrap();
        let names: Vec<&str> = parsed.iter().map(|it| it.name.as_str()).collect();
        assert_eq!(names, ["zz", "a"]);
        assert_eq!(parsed[0].arguments, Arguments::default());
        let arguments = &parsed[1].arguments;
        assert_eq!((arguments.mode.as_deref(), arguments.k), (Some("dense"), Some(7)));
        assert_eq!(arguments.pipeline.as_deref(), Some("p"));
    }

    #[test]
    fn what_is_wrong_is_named() {
        let check = |json: &str, message: &str| {
            let error = parse(json).unwrap_err();
            assert!(error.message().contains(message), "{json}: {error}");
        };
        check("{}", "configurations is empty");
        check("[]", "configurations: invalid type: sequence, expected an object");
        check(r#"{"a": {}, "a": {}}"#, "two configurations are called \"a\"");
        check(r#"{"a": {"mod": "dense"}}"#, "configuration \"a\": unknown option \"mod\"");
        check(
            r#"{"a": {"mode": 1}}"#,
            "configuration \"a\": option \"mode\" must be a string, not 1",
        );
        check(r#"{"a": 1}"#, "configuration \"a\": options must be an object, not 1");
    }

    #[test]
    fn options_are_those_of_retrieval_or_of_answers() {
        let check = |arguments: Value, retrieval: Option<Value>, answer: Value| {
            let arguments: Arguments = serde_json::from_value(arguments).unwrap();
            assert_eq!(arguments.retrieval_options(), retrieval);
            assert_eq!(arguments.answer_options(), answer);
        };
        check(json!({}), None, json!({"citation_style": "inline"}));
        check(
            json!({"options": {"mmr": 0.5, "verifier": "none", "neighbours": "many", "citation_style": "link"}}),
            Some(json!({"mmr": 0.5, "neighbours": "many"})),
            json!({"mmr": 0.5, "verifier": "none", "neighbours": "many", "citation_style": "inline"}),
        );
        check(
            json!({"rerank": "late_interaction", "rewrite": "hyde"}),
            None,
            json!({"rerank": "late_interaction", "rewrite": "hyde", "citation_style": "inline"}),
        );
        check(
            json!({"rewrite": "hyde", "options": {"rewrite": {"n": 2}}}),
            Some(json!({"rewrite": {"n": 2}})),
            json!({"rewrite": {"n": 2, "way": "hyde"}, "citation_style": "inline"}),
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
