//! What can be said about a rewriting, and within which limits.

use std::fmt;

use serde::de::value::MapAccessDeserializer;
use serde::de::{MapAccess, Visitor};
use serde::{Deserialize, Deserializer};

use super::RewriteMethod;
use crate::error::Result;
use crate::options::out_of_range;

/// Most questions or passages that are asked for.
const MOST: u32 = 10;

/// The option `rewrite`: the name of a way, or an object.
#[derive(Clone, Debug, Default, PartialEq, Deserialize)]
#[serde(remote = "Self", deny_unknown_fields, default)]
pub struct RewriteOptions {
    /// The way in which questions are rewritten.
    #[serde(rename = "by", deserialize_with = "way")]
    pub way: Option<RewriteMethod>,
    /// How many questions or passages are wanted; `None`: what suits the way.
    pub n: Option<u32>,
    /// The name of a template; `None`: that of the way.
    pub template: Option<String>,
    /// The language model that writes; `None`: the one that answers, or `rag.llm`.
    pub llm: Option<String>,
    /// Sampling temperature, from 0.
    #[serde(deserialize_with = "temperature")]
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

/// A way by its name, or none.
fn way<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Option<RewriteMethod>, D::Error> {
    match Option::<String>::deserialize(deserializer)? {
        None => Ok(None),
        Some(name) => way_called(&name),
    }
}

/// A temperature; that of null is the default.
fn temperature<'de, D: Deserializer<'de>>(deserializer: D) -> Result<f32, D::Error> {
    Option::<f32>::deserialize(deserializer).map(Option::unwrap_or_default)
}

fn way_called<E: serde::de::Error>(name: &str) -> Result<Option<RewriteMethod>, E> {
    RewriteMethod::named(name).map_err(|_| E::unknown_variant(name, &RewriteMethod::NAMES))
}

/// Reads a name, or an object with it and how it is done.
struct NameOrObject;

impl<'de> Visitor<'de> for NameOrObject {
    type Value = RewriteOptions;

    fn expecting(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str("a string or an object")
    }

    fn visit_str<E: serde::de::Error>(self, name: &str) -> Result<RewriteOptions, E> {
        Ok(RewriteOptions { way: way_called(name)?, ..RewriteOptions::default() })
    }

    fn visit_unit<E: serde::de::Error>(self) -> Result<RewriteOptions, E> {
        Ok(RewriteOptions::default())
    }

    fn visit_map<A: MapAccess<'de>>(self, map: A) -> Result<RewriteOptions, A::Error> {
        RewriteOptions::deserialize(MapAccessDeserializer::new(map))
    }
}

impl<'de> Deserialize<'de> for RewriteOptions {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<RewriteOptions, D::Error> {
        deserializer.deserialize_any(NameOrObject)
    }
}

impl RewriteOptions {
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
            return Err(out_of_range(
                "retrieve.rewrite.temperature",
                "between 0 and 2",
                temperature,
            ));
        }
        match self.weight {
            Some(weight) if !(0.0..=1.0).contains(&weight) => {
                Err(out_of_range("retrieve.rewrite.weight", "between 0 and 1", weight))
            }
            _ => Ok(()),
        }
    }
}

fn whole(name: &str, value: Option<u32>, most: u32) -> Result<()> {
    match value {
        Some(value) if !(1..=most).contains(&value) => {
            let range = format!("between 1 and {most}");
            Err(out_of_range(&format!("retrieve.rewrite.{name}"), range, value))
        }
        _ => Ok(()),
    }
}

#[cfg(test)]
mod tests {
    use serde_json::{Value, json};

    use super::*;
    use crate::options;

    fn read(options: Value) -> Result<RewriteOptions> {
        options::read("rewrite", options, &[])
    }

    #[test]
    fn a_name_or_an_object() {
        assert_eq!(read(json!("hyde")).unwrap().way, Some(RewriteMethod::Hyde));
        assert_eq!(read(json!("none")).unwrap(), RewriteOptions::default());
        assert_eq!(read(json!(null)).unwrap(), RewriteOptions::default());
        let options = read(json!({"by": "fusion", "n": 5, "llm": "l"})).unwrap();
        assert_eq!((options.way, options.n), (Some(RewriteMethod::Fusion), Some(5)));
        assert_eq!(read(json!({"by": null, "terms": 1})).unwrap().terms, Some(1));
        assert_eq!(read(json!({"temperature": null})).unwrap(), RewriteOptions::default());
        let check = |options, message: &str, hint: &str| {
            let error = read(options).unwrap_err();
            assert_eq!(error.message(), message);
            let said = error.hint_text().unwrap_or_default();
            assert!(said.contains(hint), "{said} does not say {hint}");
        };
        check(
            json!("hide"),
            "option \"rewrite\" cannot be \"hide\"",
            "Did you mean \"hyde\"? Known values: none, multi_query, fusion",
        );
        check(json!({"m": 4}), "unknown option \"m\" of \"rewrite\"", "Known options: by, n,");
        check(json!({"by": "x"}), "option \"rewrite.by\" cannot be \"x\"", "Known values: none,");
        check(json!(7), "option \"rewrite\" must be a string or an object, not 7", "");
        check(
            json!({"n": "2"}),
            "option \"rewrite.n\" must be a whole number, 0 or more, not \"2\"",
            "without quotes",
        );
    }

    #[test]
    fn what_is_out_of_range_is_named() {
        let check = |options, message: &str| {
            let error = read(options).unwrap().check().unwrap_err();
            assert_eq!(error.message(), format!("option \"retrieve.rewrite.{message}"));
        };
        check(json!({"n": 11}), "n\" must be between 1 and 10, not 11");
        check(json!({"max_calls": 0}), "max_calls\" must be between 1 and 10, not 0");
        check(json!({"chunks": 0}), "chunks\" must be between 1 and 100, not 0");
        check(json!({"terms": 101}), "terms\" must be between 1 and 100, not 101");
        check(json!({"weight": 1.5}), "weight\" must be between 0 and 1, not 1.5");
        check(json!({"temperature": -1}), "temperature\" must be between 0 and 2, not -1");
        assert!(RewriteOptions::default().check().is_ok());
    }
}
