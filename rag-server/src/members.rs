//! Members of requests that are read in another way than serde does by itself: null says nothing, and what the database
//! reads stays as it was written.

use std::collections::BTreeMap;

use serde::{Deserialize, Deserializer, Serialize};
use serde_json::value::{RawValue, to_raw_value};
use tokio_postgres::types::Json;

/// JSON as it was written, so that numbers keep all of their digits.
pub type AsWritten = Json<Box<RawValue>>;

/// The members of an object, as they were written.
pub type Members = BTreeMap<String, Box<RawValue>>;

/// The options of a question, in groups.
#[derive(Clone, Debug, Default, Deserialize, Serialize)]
#[serde(transparent)]
pub struct Options(Members);

impl Options {
    /// Whether the group `answer` says something of this name other than null.
    pub fn says_of_answer(&self, name: &str) -> bool {
        let Some(group) = self.0.get("answer") else { return false };
        let group = serde_json::from_str::<Option<Members>>(group.get());
        let group = group.ok().flatten().unwrap_or_default();
        group.get(name).is_some_and(|value| value.get() != "null")
    }

    /// The whole number of this name that stands beside the groups.
    pub fn number(&self, name: &str) -> Option<i64> {
        self.0.get(name).and_then(|value| serde_json::from_str(value.get()).ok())
    }

    /// Changes the group `answer`, unless it is something else than an object, which the database says.
    pub fn change_answer(&mut self, change: impl FnOnce(&mut Members)) {
        self.change("answer", change);
    }

    /// Changes the group `retrieve`, unless it is something else than an object, which the database says.
    pub fn change_retrieve(&mut self, change: impl FnOnce(&mut Members)) {
        self.change("retrieve", change);
    }

    fn change(&mut self, group: &str, change: impl FnOnce(&mut Members)) {
        let written = self.0.get(group).map_or("null", |group| group.get());
        let Ok(members) = serde_json::from_str::<Option<Members>>(written) else { return };
        let mut members = members.unwrap_or_default();
        change(&mut members);
        self.0.insert(group.to_owned(), write(&members));
    }
}

/// A value as JSON.
pub fn write(value: &impl Serialize) -> Box<RawValue> {
    to_raw_value(value).expect("numbers, texts and what was read become JSON")
}

/// Reads a member that may also be null, as clients of OpenAI's API have it, which is as if it was left out.
pub fn or_default<'de, D, T>(deserializer: D) -> Result<T, D::Error>
where
    D: Deserializer<'de>,
    T: Deserialize<'de> + Default,
{
    Ok(Option::deserialize(deserializer)?.unwrap_or_default())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn options(text: &str) -> Options {
        serde_json::from_str(text).unwrap()
    }

    fn check(before: &str, after: &str) {
        let mut options = options(before);
        options.change_answer(|answer| {
            answer.insert("top_p".to_owned(), write(&0.5));
        });
        assert_eq!(serde_json::to_string(&options).unwrap(), after);
    }

    #[test]
    fn a_group_is_changed_and_the_rest_stays_as_it_was_written() {
        check("{}", r#"{"answer":{"top_p":0.5}}"#);
        check(r#"{"answer": null}"#, r#"{"answer":{"top_p":0.5}}"#);
        check(r#"{"answer": "wrong"}"#, r#"{"answer":"wrong"}"#);
        let filter = r#"{"filter": {"n": 12345678901234567890.10, "m": 1e400}}"#;
        check(
            &format!(r#"{{"retrieve": {filter}, "answer": {{"schema": {{"maximum": 1.00}}}}}}"#),
            &format!(
                r#"{{"answer":{{"schema":{{"maximum": 1.00}},"top_p":0.5}},"retrieve":{filter}}}"#
            ),
        );
    }

    #[test]
    fn each_group_is_changed_by_itself() {
        let mut options = options(r#"{"answer": {"top_p": 1}, "retrieve": {"candidates": 50}}"#);
        options.change_retrieve(|retrieve| {
            retrieve.insert("offset".to_owned(), write(&10));
        });
        let changed = r#"{"answer":{"top_p": 1},"retrieve":{"candidates":50,"offset":10}}"#;
        assert_eq!(serde_json::to_string(&options).unwrap(), changed);
    }

    #[test]
    fn what_is_said_of_the_answer_is_no_null() {
        let says = |text: &str| options(text).says_of_answer("schema");
        assert!(says(r#"{"answer": {"schema": {"type": "object"}}}"#));
        assert!(says(r#"{"answer": {"schema": "null"}}"#));
        for text in ["{}", r#"{"answer": null}"#, r#"{"answer": "schema"}"#] {
            assert!(!says(text), "{text}");
        }
        assert!(!says(r#"{"answer": {"schema": null, "top_p": 1}, "schema": {}}"#));
    }

    #[test]
    fn a_number_beside_the_groups_is_read() {
        let number = |text: &str| options(text).number("k");
        assert_eq!(number(r#"{"k": 5}"#), Some(5));
        for text in ["{}", r#"{"k": null}"#, r#"{"k": "5"}"#, r#"{"retrieve": {"k": 5}}"#] {
            assert_eq!(number(text), None, "{text}");
        }
    }

    #[test]
    fn null_says_nothing() {
        #[derive(Deserialize)]
        struct Request {
            #[serde(default, deserialize_with = "or_default")]
            stream: bool,
            #[serde(default, deserialize_with = "or_default")]
            options: Options,
        }
        for text in ["{}", r#"{"stream": null, "options": null}"#] {
            let request: Request = serde_json::from_str(text).unwrap();
            assert!(!request.stream && request.options.0.is_empty());
        }
        assert!(serde_json::from_str::<Request>(r#"{"stream": 1}"#).is_err());
    }
}
