//! What can be said about a rewriting, and within which limits.

use serde::de::Error as _;
use serde::{Deserialize, Deserializer};
use serde_json::Value;

use super::RewriteMethod;
use crate::error::{Error, Result};
use crate::options;

/// Most questions or passages that are asked for.
const MOST: u32 = 10;

/// The member `rewrite` of the options: the name of a way, or an object.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct RewriteOptions {
    /// The way in which questions are rewritten.
    pub way: Option<RewriteMethod>,
    /// How many questions or passages are wanted; `None`: what suits the way.
    pub n: Option<u32>,
    /// The name of a template; `None`: that of the way.
    pub template: Option<String>,
    /// The language model that writes; `None`: the one that answers, or `rag.llm`.
    pub llm: Option<String>,
    /// Sampling temperature, from 0.
    pub temperature: f32,
    /// Longest answer of the language model, in tokens; `None`: 1000.
    pub max_tokens: Option<u32>,
    /// Most calls of the language model; `None`: 2.
    pub max_calls: Option<u32>,
    /// Chunks whose words and vectors are taken by `prf`; `None`: the measured default.
    pub chunks: Option<u32>,
    /// Words that `prf` takes; `None`: the measured default.
    pub terms: Option<u32>,
    /// Share of the chunks in the vector of `prf`, from 0 to 1; `None`: the measured default.
    pub weight: Option<f64>,
    /// How many times a word of the question counts beside one of the chunks in `prf`; `None`: the
    /// measured default.
    pub repeat: Option<u32>,
}

/// The options as they are written in JSON, before they are checked.
#[derive(Deserialize, Default)]
#[serde(deny_unknown_fields, default)]
struct RewriteJson {
    way: Option<String>,
    n: Option<u32>,
    template: Option<String>,
    llm: Option<String>,
    temperature: f32,
    max_tokens: Option<u32>,
    max_calls: Option<u32>,
    chunks: Option<u32>,
    terms: Option<u32>,
    weight: Option<f64>,
    repeat: Option<u32>,
}

/// An error as serde passes it on, with its hint.
fn custom<E: serde::de::Error>(error: Error) -> E {
    let hint = error.hint_text().map(|hint| format!(" ({hint})")).unwrap_or_default();
    E::custom(format!("{error}{hint}"))
}

impl<'de> Deserialize<'de> for RewriteOptions {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> std::result::Result<Self, D::Error> {
        let written = match Value::deserialize(deserializer)? {
            Value::Null => RewriteJson::default(),
            Value::String(way) => RewriteJson { way: Some(way), ..RewriteJson::default() },
            object @ Value::Object(_) => options::read("", object, &[]).map_err(custom)?,
            other => {
                let message = format!("rewrite is neither a name nor an object: {other}");
                return Err(D::Error::custom(message));
            }
        };
        RewriteOptions::of(written).map_err(custom)
    }
}

impl RewriteOptions {
    fn of(written: RewriteJson) -> Result<RewriteOptions> {
        let way = match written.way.as_deref() {
            None | Some("none") => None,
            Some(name) => Some(name.parse()?),
        };
        Ok(RewriteOptions {
            way,
            n: written.n,
            template: written.template,
            llm: written.llm,
            temperature: written.temperature,
            max_tokens: written.max_tokens,
            max_calls: written.max_calls,
            chunks: written.chunks,
            terms: written.terms,
            weight: written.weight,
            repeat: written.repeat,
        })
    }

    /// The way that the argument `rewrite` and these options name.
    pub fn way_with(&self, argument: Option<&str>) -> Result<Option<RewriteMethod>> {
        let named = match argument {
            None | Some("none") => None,
            Some(name) => Some(name.parse::<RewriteMethod>()?),
        };
        match (named, self.way) {
            (Some(one), Some(other)) if one != other => Err(Error::invalid(format!(
                "rewrite is \"{}\", and the options name \"{}\"",
                one.name(),
                other.name()
            ))),
            (named, own) => Ok(named.or(own)),
        }
    }

    /// Most calls of the language model.
    #[must_use]
    pub fn calls(&self) -> u32 {
        self.max_calls.unwrap_or(2)
    }

    /// An error that names the first value out of its range.
    pub fn check(&self) -> Result<()> {
        whole("n", self.n, MOST)?;
        whole("max_tokens", self.max_tokens, 1_000_000)?;
        whole("max_calls", self.max_calls, MOST)?;
        whole("chunks", self.chunks, 100)?;
        whole("terms", self.terms, 100)?;
        whole("repeat", self.repeat, MOST)?;
        if !(0.0..=2.0).contains(&self.temperature) {
            let temperature = self.temperature;
            return Err(Error::invalid(format!(
                "the temperature of rewrite must be between 0 and 2: {temperature}"
            )));
        }
        match self.weight {
            Some(weight) if !(0.0..=1.0).contains(&weight) => Err(Error::invalid(format!(
                "the weight of rewrite must be between 0 and 1: {weight}"
            ))),
            _ => Ok(()),
        }
    }
}

fn whole(name: &str, value: Option<u32>, most: u32) -> Result<()> {
    match value {
        Some(value) if !(1..=most).contains(&value) => {
            Err(Error::invalid(format!("{name} of rewrite must be between 1 and {most}: {value}")))
        }
        _ => Ok(()),
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn read(options: Value) -> std::result::Result<RewriteOptions, String> {
        serde_json::from_value(options).map_err(|error| error.to_string())
    }

    #[test]
    fn a_name_or_an_object() {
        assert_eq!(read(json!("hyde")).unwrap().way, Some(RewriteMethod::Hyde));
        assert_eq!(read(json!("none")).unwrap(), RewriteOptions::default());
        assert_eq!(read(json!(null)).unwrap(), RewriteOptions::default());
        let options = read(json!({"way": "fusion", "n": 5, "llm": "l"})).unwrap();
        assert_eq!((options.way, options.n), (Some(RewriteMethod::Fusion), Some(5)));
        let check = |options, message: &str| {
            let error = read(options).unwrap_err();
            assert!(error.contains(message), "{error} does not say {message}");
        };
        check(json!("hide"), "unknown rewrite \"hide\" (Known values: none, multi_query, fusion");
        check(json!({"m": 4}), "unknown option \"m\"");
        check(json!({"way": "x"}), "unknown rewrite \"x\"");
        check(json!(7), "rewrite is neither a name nor an object: 7");
    }

    #[test]
    fn one_way_is_named() {
        let options = read(json!("hyde")).unwrap();
        assert_eq!(options.way_with(None).unwrap(), Some(RewriteMethod::Hyde));
        assert_eq!(options.way_with(Some("none")).unwrap(), Some(RewriteMethod::Hyde));
        assert_eq!(options.way_with(Some("hyde")).unwrap(), Some(RewriteMethod::Hyde));
        let error = options.way_with(Some("prf")).unwrap_err();
        assert_eq!(error.message(), "rewrite is \"prf\", and the options name \"hyde\"");
        assert_eq!(RewriteOptions::default().way_with(Some("none")).unwrap(), None);
    }

    #[test]
    fn what_is_out_of_range_is_named() {
        let check = |options, message: &str| {
            let error = read(options).unwrap().check().unwrap_err();
            assert_eq!(error.message(), message);
        };
        check(json!({"n": 11}), "n of rewrite must be between 1 and 10: 11");
        check(json!({"max_calls": 0}), "max_calls of rewrite must be between 1 and 10: 0");
        check(json!({"chunks": 0}), "chunks of rewrite must be between 1 and 100: 0");
        check(json!({"terms": 101}), "terms of rewrite must be between 1 and 100: 101");
        check(json!({"weight": 1.5}), "the weight of rewrite must be between 0 and 1: 1.5");
        check(json!({"temperature": -1}), "the temperature of rewrite must be between 0 and 2: -1");
        assert!(RewriteOptions::default().check().is_ok());
    }
}
