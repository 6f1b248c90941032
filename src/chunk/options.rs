//! How a document is to be cut, and which values make sense.

use serde::{Deserialize, Serialize};

use super::language::Language;
use super::method::ChunkingMethod;
use crate::error::{Error, Result};
use crate::text::format::TextFormat;

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
pub struct ChunkingOptions {
    /// Which places are good to cut at.
    pub by: ChunkingMethod,
    /// Upper bound of [`Chunk::token_count`](super::Chunk::token_count); with
    /// [`ChunkingMethod::Hierarchical`], of a parent's tokens.
    pub max_tokens: u32,
    /// Tokens that a chunk repeats from the end of the one before it, at most; never more
    /// than half of a chunk is repeated.
    pub overlap: u32,
    /// Whether a document is embedded as a whole and its vectors are cut, rather than its text.
    pub late: bool,
    /// What only some methods ask.
    pub settings: MethodSettings,
}

/// Settings that only some methods know; `None` is the default.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct MethodSettings {
    /// Of `code`: what it is written in; found out if it is not given.
    pub language: Option<Language>,
    /// Of `semantic`: the share of distances between neighbouring sentences, in percent,
    /// that are too small for a cut.
    pub percentile: Option<u32>,
    /// Of `semantic`: fewest tokens of a chunk, as far as its neighbours leave room.
    pub min_tokens: Option<u32>,
    /// Of `hierarchical`: longest chunk inside a parent.
    pub child_tokens: Option<u32>,
    /// Of `hierarchical`: the method by which parents and children are cut.
    pub base: Option<ChunkingMethod>,
}

impl MethodSettings {
    /// The settings that are given, by their names in SQL.
    pub fn given(&self) -> Vec<&'static str> {
        let MethodSettings { language, percentile, min_tokens, child_tokens, base } = self;
        let all = [
            ("language", language.is_some()),
            ("percentile", percentile.is_some()),
            ("min_tokens", min_tokens.is_some()),
            ("child_tokens", child_tokens.is_some()),
            ("base", base.is_some()),
        ];
        all.into_iter().filter_map(|(name, is_given)| is_given.then_some(name)).collect()
    }
}

impl Default for ChunkingOptions {
    fn default() -> Self {
        ChunkingOptions {
            by: ChunkingMethod::Auto,
            max_tokens: 256,
            overlap: 0,
            late: false,
            settings: MethodSettings::default(),
        }
    }
}

impl ChunkingOptions {
    /// Checks the values for a model that puts `special_tokens` around a text.
    pub fn validate(&self, special_tokens: usize) -> Result<()> {
        let ChunkingOptions { max_tokens, overlap, .. } = *self;
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
        let (by, known) = (self.by.as_str(), self.by.settings());
        if let Some(name) = self.settings.given().into_iter().find(|name| !known.contains(name)) {
            return Err(Error::invalid(format!("{name} is not for chunking by {by}")));
        }
        let most = self.max_tokens;
        within("percentile", self.settings.percentile, 1, 99)?;
        within("min_tokens", self.settings.min_tokens, 1, most)?;
        within("child_tokens", self.settings.child_tokens, MIN_MAX_TOKENS, most)?;
        match self.settings.base {
            Some(base) if !base.can_be_base() => Err(Error::invalid(format!(
                "base of hierarchical chunking cannot be {}",
                base.as_str()
            ))
            .hint("Take auto, recursive, markdown, sentence, fixed, page or code.")),
            _ => Ok(()),
        }
    }

    /// Tokens of the longest chunk that is embedded.
    pub fn longest(&self) -> u32 {
        match self.by {
            ChunkingMethod::Hierarchical => {
                self.settings.child_tokens.unwrap_or_else(|| self.usual_child_tokens())
            }
            _ => self.max_tokens,
        }
    }

    /// The options with each default of the method written out, so that another version reads in them
    /// what this one does.
    #[must_use]
    pub fn completed(&self) -> Self {
        let mut options = self.clone();
        let settings = &mut options.settings;
        match self.by {
            ChunkingMethod::Semantic => {
                settings.percentile = Some(self.percentile());
                settings.min_tokens = Some(self.min_tokens());
            }
            ChunkingMethod::Hierarchical => {
                settings.child_tokens = Some(self.longest());
                settings.base = Some(self.base());
            }
            _ => (),
        }
        options
    }

    /// The opposite of [`completed`](Self::completed): without the settings that have their defaults.
    #[must_use]
    pub fn without_defaults(&self) -> Self {
        let usual = ChunkingOptions { settings: MethodSettings::default(), ..self.clone() };
        let usual = usual.completed().settings;
        let mut options = self.clone();
        let settings = &mut options.settings;
        settings.percentile = settings.percentile.filter(|it| Some(*it) != usual.percentile);
        settings.min_tokens = settings.min_tokens.filter(|it| Some(*it) != usual.min_tokens);
        settings.child_tokens = settings.child_tokens.filter(|it| Some(*it) != usual.child_tokens);
        settings.base = settings.base.filter(|it| Some(*it) != usual.base);
        options
    }

    /// The options with chunks of at most `most` tokens to be embedded, and overlap and minimum
    /// lowered to fit.
    #[must_use]
    pub fn limited_to(&self, most: u32) -> Self {
        let most = most.max(MIN_MAX_TOKENS);
        if self.longest() <= most {
            return self.clone();
        }
        let mut options = self.without_defaults();
        match self.by {
            ChunkingMethod::Hierarchical => options.settings.child_tokens = Some(most),
            _ => options.max_tokens = most,
        }
        options.overlap = self.overlap.min(most / 2);
        options.settings.min_tokens = options.settings.min_tokens.map(|fewest| fewest.min(most));
        options
    }

    fn usual_child_tokens(&self) -> u32 {
        CHILD_TOKENS.min(self.max_tokens / 2).max(MIN_MAX_TOKENS).min(self.max_tokens)
    }

    /// Which of them [`ChunkingOptions::longest`] comes from.
    pub fn name_of_longest(&self) -> &'static str {
        if self.by == ChunkingMethod::Hierarchical { "child_tokens" } else { "max_tokens" }
    }

    /// The method that finds the places to cut at.
    pub fn base(&self) -> ChunkingMethod {
        match self.by {
            ChunkingMethod::Hierarchical => self.settings.base.unwrap_or(ChunkingMethod::Auto),
            by => by,
        }
    }

    /// The method by which `document` is cut: that which is asked for, or what fits.
    pub fn base_for(&self, document: &str) -> ChunkingMethod {
        match self.base() {
            ChunkingMethod::Auto => ChunkingMethod::fitting(document),
            by => by,
        }
    }

    /// Whether `document` is to be read as HTML before it is cut.
    pub fn reads_html(&self, document: &str) -> bool {
        match self.base() {
            ChunkingMethod::Html => true,
            ChunkingMethod::Auto => TextFormat::of(document) == TextFormat::Html,
            _ => false,
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

    fn of(by: ChunkingMethod, max_tokens: u32, settings: MethodSettings) -> ChunkingOptions {
        ChunkingOptions { by, max_tokens, settings, ..ChunkingOptions::default() }
    }

    #[test]
    fn children_are_half_of_their_parent_at_most() {
        let longest = |max_tokens, child_tokens| {
            let settings = MethodSettings { child_tokens, ..MethodSettings::default() };
            of(ChunkingMethod::Hierarchical, max_tokens, settings).longest()
        };
        assert_eq!(longest(1000, None), 128);
        assert_eq!(longest(64, None), 32);
        assert_eq!(longest(8, None), 8);
        assert_eq!(longest(64, Some(64)), 64);
    }

    #[test]
    fn chunks_are_limited() {
        let limited = |by, most| {
            let options = of(by, 256, MethodSettings::default());
            ChunkingOptions { overlap: 200, ..options }.limited_to(most)
        };
        let recursive = limited(ChunkingMethod::Recursive, 192);
        assert_eq!((recursive.max_tokens, recursive.overlap), (192, 96));
        let untouched = limited(ChunkingMethod::Recursive, 256);
        assert_eq!((untouched.max_tokens, untouched.overlap), (256, 200));
        let settings = MethodSettings { child_tokens: Some(250), ..MethodSettings::default() };
        let nested = of(ChunkingMethod::Hierarchical, 1000, settings).limited_to(192);
        assert_eq!((nested.max_tokens, nested.longest()), (1000, 192));
        assert!(recursive.validate(2).is_ok() && nested.validate(2).is_ok());
        let semantic = of(ChunkingMethod::Semantic, 256, MethodSettings::default());
        assert_eq!(semantic.completed().limited_to(192).min_tokens(), 96, "half, as before");
    }

    #[test]
    fn defaults_are_written_out_and_taken_back() {
        for by in [ChunkingMethod::Semantic, ChunkingMethod::Hierarchical, ChunkingMethod::Code] {
            let bare = of(by, 200, MethodSettings::default());
            let complete = bare.completed();
            assert_eq!(complete.without_defaults(), bare, "{by:?}");
            assert_eq!(complete.completed(), complete, "{by:?}");
            assert_eq!((complete.longest(), complete.base()), (bare.longest(), bare.base()));
        }
        let settings = MethodSettings { percentile: Some(90), ..MethodSettings::default() };
        let chosen = of(ChunkingMethod::Semantic, 200, settings).completed();
        assert_eq!(chosen.settings.min_tokens, Some(100));
        assert_eq!(chosen.without_defaults().settings.percentile, Some(90));
        assert_eq!(chosen.without_defaults().settings.min_tokens, None);
    }
}
