//! How a document is to be cut, and which values make sense.

use serde::{Deserialize, Serialize};

use super::language::Language;
use super::strategy::Strategy;
use crate::error::{Error, Result};

/// Smallest `max_tokens`: one character is up to 4 tokens in models that fall back to
/// bytes, and most models put 2 special tokens around a text.
pub const MIN_MAX_TOKENS: u32 = 8;

/// Largest `max_tokens`: longer than the input of any model.
pub const MAX_MAX_TOKENS: u32 = 1_000_000;

/// Longest chunk inside a parent where nothing is said, in tokens.
const CHILD_TOKENS: u32 = 128;

/// Share of the distances, in percent, that are no cuts where nothing is said. On long documents
/// with questions about places in them, 95 and chunks that are half full cover more than 80 or 90
/// and shorter ones; docs/chunking.md has the figures.
const PERCENTILE: u32 = 95;

/// How a document is cut.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct ChunkOptions {
    /// Which places are good to cut at.
    pub strategy: Strategy,
    /// Upper bound of [`Chunk::token_count`](super::Chunk::token_count); with
    /// [`Strategy::Hierarchical`], of a parent's tokens.
    pub max_tokens: u32,
    /// Tokens that a chunk repeats from the end of the one before it, at most; never more
    /// than half of a chunk is repeated.
    pub overlap: u32,
    /// What only some strategies ask.
    pub settings: ChunkSettings,
}

/// Settings that only some strategies know; `None` is the default.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct ChunkSettings {
    /// Of `code`: what it is written in; found out if it is not given.
    pub language: Option<Language>,
    /// Of `semantic`: the share of distances between neighbouring sentences, in percent,
    /// that are too small for a cut.
    pub percentile: Option<u32>,
    /// Of `semantic`: fewest tokens of a chunk, as far as its neighbours leave room.
    pub min_tokens: Option<u32>,
    /// Of `hierarchical`: longest chunk inside a parent.
    pub child_tokens: Option<u32>,
    /// Of `hierarchical`: the strategy by which parents and children are cut.
    pub base: Option<Strategy>,
}

impl ChunkSettings {
    /// The settings that are given, by their names in SQL.
    pub fn given(&self) -> Vec<&'static str> {
        let ChunkSettings { language, percentile, min_tokens, child_tokens, base } = self;
        let all = [
            ("language", language.is_some()),
            ("percentile", percentile.is_some()),
            ("min_tokens", min_tokens.is_some()),
            ("child_tokens", child_tokens.is_some()),
            ("base", base.is_some()),
        ];
        all.into_iter().filter_map(|(name, is_given)| is_given.then_some(name)).collect()
    }

    /// As a JSON object of those that are given.
    pub fn to_json(&self) -> serde_json::Value {
        let mut value = serde_json::json!(self);
        if let Some(object) = value.as_object_mut() {
            object.retain(|_, value| !value.is_null());
        }
        value
    }
}

impl Default for ChunkOptions {
    fn default() -> Self {
        ChunkOptions {
            strategy: Strategy::Recursive,
            max_tokens: 256,
            overlap: 0,
            settings: ChunkSettings::default(),
        }
    }
}

impl ChunkOptions {
    /// Options as SQL gives them.
    ///
    /// Fails for a strategy that is not known, for sizes that make no sense for any model, and
    /// for settings that are not the strategy's.
    pub fn new(
        strategy: &str,
        max_tokens: i32,
        overlap: i32,
        settings: ChunkSettings,
    ) -> Result<Self> {
        let count = |name: &str, value: i32| {
            u32::try_from(value)
                .map_err(|_| Error::invalid(format!("{name} must not be negative: {value}")))
        };
        let options = ChunkOptions {
            strategy: strategy.parse()?,
            max_tokens: count("max_tokens", max_tokens)?,
            overlap: count("overlap", overlap)?,
            settings,
        };
        options.validate(0)?;
        Ok(options)
    }

    /// Checks the values for a model that puts `special_tokens` around a text.
    pub fn validate(&self, special_tokens: usize) -> Result<()> {
        let ChunkOptions { max_tokens, overlap, .. } = *self;
        if !(MIN_MAX_TOKENS..=MAX_MAX_TOKENS).contains(&max_tokens) {
            return Err(Error::invalid(format!(
                "max_tokens must be between {MIN_MAX_TOKENS} and {MAX_MAX_TOKENS}, not {max_tokens}"
            )));
        }
        self.validate_settings()?;
        let (longest, name) = (self.longest(), self.name_of_longest());
        if overlap >= longest {
            return Err(Error::invalid(format!(
                "overlap must be less than {name}, not {overlap} with {name} {longest}"
            ))
            .hint(format!("An overlap of a tenth to a fifth of {name} is common.")));
        }
        if longest as usize <= special_tokens {
            return Err(Error::invalid(format!(
                "{name} must be more than the {special_tokens} special tokens of the model, \
                 not {longest}"
            )));
        }
        Ok(())
    }

    fn validate_settings(&self) -> Result<()> {
        let known = self.strategy.settings();
        if let Some(name) = self.settings.given().into_iter().find(|name| !known.contains(name)) {
            let strategy = self.strategy.as_str();
            let known = if known.is_empty() { "none".to_owned() } else { known.join(", ") };
            return Err(Error::invalid(format!(
                "option {name} is not for the strategy \"{strategy}\""
            ))
            .hint(format!("Options of {strategy}: {known}.")));
        }
        let most = self.max_tokens;
        within("percentile", self.settings.percentile, 1, 99)?;
        within("min_tokens", self.settings.min_tokens, 1, most)?;
        within("child_tokens", self.settings.child_tokens, MIN_MAX_TOKENS, most)?;
        match self.settings.base {
            Some(base) if !base.can_be_base() => Err(Error::invalid(format!(
                "the strategy \"{}\" can't be the base of hierarchical",
                base.as_str()
            ))
            .hint("Take recursive, markdown, sentence, fixed, page or code.")),
            _ => Ok(()),
        }
    }

    /// Tokens of the longest chunk that is embedded.
    pub fn longest(&self) -> u32 {
        match self.strategy {
            Strategy::Hierarchical => self.settings.child_tokens.unwrap_or_else(|| {
                CHILD_TOKENS.min(self.max_tokens / 2).max(MIN_MAX_TOKENS).min(self.max_tokens)
            }),
            _ => self.max_tokens,
        }
    }

    /// The options with chunks of at most `most` tokens to be embedded, and overlap and minimum
    /// lowered to fit.
    #[must_use]
    pub fn limited_to(&self, most: u32) -> Self {
        let most = most.max(MIN_MAX_TOKENS);
        let mut options = self.clone();
        if self.longest() <= most {
            return options;
        }
        match self.strategy {
            Strategy::Hierarchical => options.settings.child_tokens = Some(most),
            _ => options.max_tokens = most,
        }
        options.overlap = self.overlap.min(most / 2);
        options.settings.min_tokens = self.settings.min_tokens.map(|fewest| fewest.min(most));
        options
    }

    /// Which argument [`ChunkOptions::longest`] comes from.
    pub fn name_of_longest(&self) -> &'static str {
        if self.strategy == Strategy::Hierarchical { "child_tokens" } else { "max_tokens" }
    }

    /// The strategy that finds the places to cut.
    pub fn base(&self) -> Strategy {
        match self.strategy {
            Strategy::Hierarchical => self.settings.base.unwrap_or(Strategy::Recursive),
            strategy => strategy,
        }
    }

    /// The share of distances, in percent, that are no cuts.
    pub(super) fn percentile(&self) -> u32 {
        self.settings.percentile.unwrap_or(PERCENTILE)
    }

    /// Fewest tokens of a chunk of sentences that belong together.
    pub(super) fn min_tokens(&self) -> u32 {
        self.settings.min_tokens.unwrap_or(self.max_tokens / 2)
    }
}

fn within(name: &str, value: Option<u32>, least: u32, most: u32) -> Result<()> {
    match value {
        Some(value) if !(least..=most).contains(&value) => {
            Err(Error::invalid(format!("{name} must be between {least} and {most}, not {value}")))
        }
        _ => Ok(()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(strategy: &str, settings: serde_json::Value, message: &str, hint: Option<&str>) {
        let settings = serde_json::from_value(settings).unwrap();
        let error = ChunkOptions::new(strategy, 64, 0, settings).unwrap_err();
        assert_eq!((error.message(), error.hint_text()), (message, hint));
    }

    #[test]
    fn settings_belong_to_strategies() {
        check(
            "recursive",
            serde_json::json!({"percentile": 90}),
            "option percentile is not for the strategy \"recursive\"",
            Some("Options of recursive: none."),
        );
        check(
            "code",
            serde_json::json!({"child_tokens": 16}),
            "option child_tokens is not for the strategy \"code\"",
            Some("Options of code: language."),
        );
    }

    #[test]
    fn values_out_of_range() {
        let none = None;
        check(
            "semantic",
            serde_json::json!({"percentile": 100}),
            "percentile must be between 1 and 99, not 100",
            none,
        );
        check(
            "semantic",
            serde_json::json!({"min_tokens": 65}),
            "min_tokens must be between 1 and 64, not 65",
            none,
        );
        check(
            "hierarchical",
            serde_json::json!({"child_tokens": 65}),
            "child_tokens must be between 8 and 64, not 65",
            none,
        );
        check(
            "hierarchical",
            serde_json::json!({"base": "semantic"}),
            "the strategy \"semantic\" can't be the base of hierarchical",
            Some("Take recursive, markdown, sentence, fixed, page or code."),
        );
    }

    #[test]
    fn children_are_half_of_their_parent_at_most() {
        let longest = |max_tokens, child_tokens| {
            let settings = ChunkSettings { child_tokens, ..ChunkSettings::default() };
            ChunkOptions::new("hierarchical", max_tokens, 0, settings).map(|it| it.longest())
        };
        assert_eq!(longest(1000, None), Ok(128));
        assert_eq!(longest(64, None), Ok(32));
        assert_eq!(longest(8, None), Ok(8));
        assert_eq!(longest(64, Some(64)), Ok(64));
    }

    #[test]
    fn chunks_are_limited() {
        let limited = |strategy: &str, most| {
            let options = ChunkOptions::new(strategy, 256, 200, ChunkSettings::default());
            options.map(|it| it.limited_to(most))
        };
        let recursive = limited("recursive", 192).unwrap();
        assert_eq!((recursive.max_tokens, recursive.overlap), (192, 96));
        let untouched = limited("recursive", 256).unwrap();
        assert_eq!((untouched.max_tokens, untouched.overlap), (256, 200));
        let settings = ChunkSettings { child_tokens: Some(250), ..ChunkSettings::default() };
        let nested = ChunkOptions::new("hierarchical", 1000, 0, settings).unwrap().limited_to(192);
        assert_eq!((nested.max_tokens, nested.longest()), (1000, 192));
        assert!(recursive.validate(2).is_ok() && nested.validate(2).is_ok());
    }

    #[test]
    fn settings_become_json_and_come_back() {
        let settings = ChunkSettings {
            language: Some(Language::Cpp),
            base: Some(Strategy::Markdown),
            ..ChunkSettings::default()
        };
        let json = settings.to_json();
        assert_eq!(json, serde_json::json!({"language": "cpp", "base": "markdown"}));
        assert_eq!(serde_json::from_value::<ChunkSettings>(json).unwrap(), settings);
    }
}
