//! The options of chunking as SQL gives and shows them: one flat object, `{"by": "markdown", ...}`.
//!
//! A key that is null is one that is not given.

use serde::Deserialize;
use serde_json::{Map, Value, json};

use super::method::{CHUNKING_METHODS, ChunkingMethod};
use super::options::{ChunkingOptions, MethodSettings};
use crate::error::{Error, Result};
use crate::options;

/// What errors call the object.
const NAME: &str = "chunking";

/// Keys that every method has.
const COMMON: [&str; 3] = ["by", "max_tokens", "overlap"];

/// Of a pipeline only.
const LATE: &str = "late";

/// Of a single document only.
const MODEL: &str = "model";

#[derive(Default, Deserialize)]
#[serde(deny_unknown_fields, default)]
struct ChunkingKeys {
    by: Option<ChunkingMethod>,
    max_tokens: Option<u32>,
    overlap: Option<u32>,
    late: Option<bool>,
    language: Option<super::Language>,
    percentile: Option<u32>,
    min_tokens: Option<u32>,
    child_tokens: Option<u32>,
    base: Option<ChunkingMethod>,
}

impl ChunkingOptions {
    /// How a pipeline's documents are cut.
    ///
    /// Fails for keys that are not known or are of another method, and for values that make no sense.
    pub fn for_pipeline(given: Map<String, Value>) -> Result<ChunkingOptions> {
        let given = without_nulls(given);
        if given.contains_key(MODEL) {
            return Err(Error::invalid("option \"model\" of \"chunking\" is not for pipelines")
                .hint(
                    "The tokens of a pipeline's chunks are those of its own model: model => ...",
                ));
        }
        read(given, &[LATE])
    }

    /// How a single document is cut, and the model whose tokenizer counts, if one is named.
    ///
    /// Fails as [`for_pipeline`](Self::for_pipeline) does.
    pub fn for_document(given: Map<String, Value>) -> Result<(ChunkingOptions, Option<String>)> {
        let mut given = without_nulls(given);
        if given.contains_key(LATE) {
            return Err(Error::invalid("option \"late\" of \"chunking\" is for pipelines only")
                .hint("It says how chunks are embedded, which rag_chunk does not do."));
        }
        let model = match given.remove(MODEL) {
            Some(model) => Some(options::read("chunking.model", model, &[])?),
            None => None,
        };
        Ok((read(given, &[MODEL])?, model))
    }

    /// The options of a pipeline with `changes`: keys that are given take the place of what was, a null
    /// that of the default, and another method has none of the settings of its own that the old one had.
    /// A setting that had its default has its new default where `max_tokens` is less than that now.
    ///
    /// Fails as [`for_pipeline`](Self::for_pipeline) does.
    pub fn changed(&self, changes: Map<String, Value>) -> Result<ChunkingOptions> {
        let Value::Object(mut given) = self.to_json() else {
            return Err(Error::invalid("chunking is no object"));
        };
        let chosen = self.without_defaults().settings.given();
        if let Some(most) = changes.get("max_tokens").and_then(Value::as_u64) {
            let fits = |value: &Value| value.as_u64().is_none_or(|value| value <= most);
            given.retain(|key, value| chosen.contains(&&**key) || !is_size(key) || fits(value));
        }
        if let Some(by) = changes.get("by") {
            let by = method(Some(by))?;
            let own = self.by.settings();
            given.retain(|key, _| !own.contains(&&**key) || by.settings().contains(&&**key));
        }
        given.extend(changes);
        ChunkingOptions::for_pipeline(given)
    }

    /// The options as one object, without settings that are not given.
    pub fn to_json(&self) -> Value {
        let MethodSettings { language, percentile, min_tokens, child_tokens, base } =
            &self.settings;
        let mut object = json!({
            "by": self.by, "max_tokens": self.max_tokens, "overlap": self.overlap, "late": self.late,
            "language": language, "percentile": percentile, "min_tokens": min_tokens,
            "child_tokens": child_tokens, "base": base,
        });
        if let Some(keys) = object.as_object_mut() {
            keys.retain(|_, value| !value.is_null());
        }
        object
    }
}

/// Whether a setting is a number of tokens whose default follows from `max_tokens`.
fn is_size(key: &str) -> bool {
    ["min_tokens", "child_tokens"].contains(&key)
}

fn without_nulls(mut given: Map<String, Value>) -> Map<String, Value> {
    given.retain(|_, value| !value.is_null());
    given
}

fn read(given: Map<String, Value>, more: &[&'static str]) -> Result<ChunkingOptions> {
    let by = method(given.get("by"))?;
    check_keys(&given, by, more)?;
    let usual = ChunkingOptions::default();
    let keys: ChunkingKeys = options::read(NAME, given.into(), &[])?;
    let options = ChunkingOptions {
        by,
        max_tokens: keys.max_tokens.unwrap_or(usual.max_tokens),
        overlap: keys.overlap.unwrap_or(usual.overlap),
        late: keys.late.unwrap_or(usual.late),
        settings: MethodSettings {
            language: keys.language,
            percentile: keys.percentile,
            min_tokens: keys.min_tokens,
            child_tokens: keys.child_tokens,
            base: keys.base,
        },
    };
    options.validate(0)?;
    Ok(options)
}

/// The method that is asked for, before anything else is read: it decides which keys are known.
fn method(by: Option<&Value>) -> Result<ChunkingMethod> {
    let keys: ChunkingKeys = options::read(NAME, json!({ "by": by }), &[])?;
    Ok(keys.by.unwrap_or(ChunkingOptions::default().by))
}

fn check_keys(given: &Map<String, Value>, by: ChunkingMethod, more: &[&str]) -> Result<()> {
    let known: Vec<&str> = COMMON.iter().chain(more).chain(by.settings()).copied().collect();
    let Some(key) = given.keys().find(|key| !known.contains(&&***key)) else { return Ok(()) };
    let has_it = |info: &&super::MethodInfo| info.settings.contains(&&**key);
    match CHUNKING_METHODS.iter().find(has_it) {
        Some(other) => Err(Error::invalid(format!(
            "option \"{key}\" of \"{NAME}\" is not for chunking by {}",
            by.as_str()
        ))
        .hint(format!(
            "It is an option of {}. Known options: {}.",
            other.name,
            known.join(", ")
        ))),
        None => Err(options::unknown_key_of(NAME, key, known)),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn object(value: Value) -> Map<String, Value> {
        value.as_object().unwrap().clone()
    }

    fn check(given: Value, expected: &str) {
        assert_eq!(shown(ChunkingOptions::for_pipeline(object(given))), expected);
    }

    fn shown(options: Result<ChunkingOptions>) -> String {
        match options {
            Ok(options) => options.to_json().to_string(),
            Err(error) => format!("{error} | {}", error.hint_text().unwrap_or_default()),
        }
    }

    #[test]
    fn what_is_not_given_has_its_default() {
        check(json!({}), r#"{"by":"auto","late":false,"max_tokens":256,"overlap":0}"#);
        check(
            json!({"by": null, "overlap": 9, "late": true}),
            r#"{"by":"auto","late":true,"max_tokens":256,"overlap":9}"#,
        );
        check(
            json!({"by": "code", "language": "cpp"}),
            r#"{"by":"code","language":"cpp","late":false,"max_tokens":256,"overlap":0}"#,
        );
    }

    #[test]
    fn keys_are_those_of_the_method() {
        check(
            json!({"max_token": 64}),
            "unknown option \"max_token\" of \"chunking\" | Did you mean \"max_tokens\"? Known options: by, max_tokens, overlap, late.",
        );
        check(
            json!({"by": "hierarchical", "child_token": 64}),
            "unknown option \"child_token\" of \"chunking\" | Did you mean \"child_tokens\"? Known options: by, max_tokens, overlap, late, child_tokens, base.",
        );
        check(
            json!({"percentile": 90}),
            "option \"percentile\" of \"chunking\" is not for chunking by auto | It is an option of semantic. Known options: by, max_tokens, overlap, late.",
        );
        check(
            json!({"by": "markdwn"}),
            "option \"chunking.by\" cannot be \"markdwn\" | Did you mean \"markdown\"? Known values: auto, fixed, sentence, recursive, markdown, html, page, code, semantic, hierarchical.",
        );
        check(
            json!({"model": "m"}),
            "option \"model\" of \"chunking\" is not for pipelines | The tokens of a pipeline's chunks are those of its own model: model => ...",
        );
    }

    #[test]
    fn values_are_within_their_limits() {
        check(
            json!({"max_tokens": "64"}),
            "option \"chunking.max_tokens\" must be a whole number, 0 or more, not \"64\" | It is written without quotes.",
        );
        check(json!({"max_tokens": 4}), "max_tokens must be between 8 and 1000000, not 4 | ");
        check(
            json!({"max_tokens": 64, "overlap": 64}),
            "overlap must be less than max_tokens, not 64 with max_tokens 64 | An overlap of a tenth to a fifth of max_tokens is common.",
        );
        check(
            json!({"by": "semantic", "percentile": 100}),
            "percentile must be between 1 and 99, not 100 | ",
        );
        check(
            json!({"by": "semantic", "max_tokens": 64, "min_tokens": 65}),
            "min_tokens must be between 1 and 64, not 65 | ",
        );
        check(
            json!({"by": "hierarchical", "max_tokens": 64, "child_tokens": 65}),
            "child_tokens must be between 8 and 64, not 65 | ",
        );
        check(
            json!({"by": "hierarchical", "base": "semantic"}),
            "base of hierarchical chunking cannot be semantic | Take auto, recursive, markdown, sentence, fixed, page or code.",
        );
    }

    #[test]
    fn a_document_has_a_model_and_is_not_late() {
        let read = |given| ChunkingOptions::for_document(object(given));
        let (options, model) = read(json!({"by": "fixed", "model": "m"})).unwrap();
        assert_eq!((options.by, model.as_deref()), (ChunkingMethod::Fixed, Some("m")));
        let late = read(json!({"late": false})).unwrap_err();
        assert_eq!(late.message(), "option \"late\" of \"chunking\" is for pipelines only");
        let model = read(json!({"model": 7})).unwrap_err();
        assert_eq!(model.message(), "option \"chunking.model\" must be a string, not 7");
        let unknown = read(json!({"modell": "m"})).unwrap_err();
        assert_eq!(
            unknown.hint_text(),
            Some("Did you mean \"model\"? Known options: by, max_tokens, overlap, model.")
        );
    }

    fn check_change(before: Value, changes: Value, expected: &str) {
        let before = ChunkingOptions::for_pipeline(object(before)).unwrap().completed();
        let changed = before.changed(object(changes));
        assert_eq!(shown(changed.map(|options| options.completed())), expected);
    }

    #[test]
    fn a_change_leaves_what_it_does_not_name() {
        check_change(
            json!({"by": "sentence", "max_tokens": 100, "overlap": 10, "late": true}),
            json!({"max_tokens": 64}),
            r#"{"by":"sentence","late":true,"max_tokens":64,"overlap":10}"#,
        );
        check_change(
            json!({"by": "hierarchical", "child_tokens": 50}),
            json!({"max_tokens": 100}),
            r#"{"base":"auto","by":"hierarchical","child_tokens":50,"late":false,"max_tokens":100,"overlap":0}"#,
        );
        check_change(
            json!({"by": "hierarchical", "child_tokens": 50, "overlap": 4}),
            json!({"child_tokens": null, "overlap": null}),
            r#"{"base":"auto","by":"hierarchical","child_tokens":128,"late":false,"max_tokens":256,"overlap":0}"#,
        );
    }

    #[test]
    fn a_default_that_no_longer_fits_is_another_one() {
        check_change(
            json!({"by": "hierarchical", "max_tokens": 64}),
            json!({"max_tokens": 48}),
            r#"{"base":"auto","by":"hierarchical","child_tokens":32,"late":false,"max_tokens":48,"overlap":0}"#,
        );
        check_change(
            json!({"by": "hierarchical", "child_tokens": 50}),
            json!({"max_tokens": 48}),
            "child_tokens must be between 8 and 48, not 50 | ",
        );
        check_change(
            json!({"by": "semantic"}),
            json!({"max_tokens": 64}),
            r#"{"by":"semantic","late":false,"max_tokens":64,"min_tokens":32,"overlap":0,"percentile":95}"#,
        );
    }

    #[test]
    fn another_method_has_other_settings() {
        check_change(
            json!({"by": "hierarchical", "child_tokens": 50, "overlap": 4}),
            json!({"by": "markdown"}),
            r#"{"by":"markdown","late":false,"max_tokens":256,"overlap":4}"#,
        );
        check_change(
            json!({"by": "hierarchical", "child_tokens": 50}),
            json!({"by": "hierarchical"}),
            r#"{"base":"auto","by":"hierarchical","child_tokens":50,"late":false,"max_tokens":256,"overlap":0}"#,
        );
        check_change(
            json!({"by": "semantic"}),
            json!({"by": "recursive", "percentile": 90}),
            "option \"percentile\" of \"chunking\" is not for chunking by recursive | It is an option of semantic. Known options: by, max_tokens, overlap, late.",
        );
    }
}
