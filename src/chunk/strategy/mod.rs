//! # strategy: which places are good to cut at?
//!
//! ```text
//! document → sections, and in them places to cut, best first
//! ```

mod fixed;
mod markdown;
mod recursive;
mod sentence;

use std::ops::Range;
use std::str::FromStr;

use serde::{Deserialize, Serialize};

use crate::error::{Error, Result};

/// The chunking strategies.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub enum Strategy {
    /// Every `max_tokens` tokens, wherever that falls.
    Fixed,
    /// Whole sentences, as many as fit.
    Sentence,
    /// Paragraphs, then lines, sentences, words: the largest unit that fits.
    Recursive,
    /// Markdown blocks under their headings.
    Markdown,
}

/// What messages, documentation and dispatch know about a strategy.
pub struct StrategyInfo {
    /// Its name in SQL.
    pub name: &'static str,
    /// One line for people.
    pub summary: &'static str,
    /// The strategy.
    pub strategy: Strategy,
    /// Finds its places to cut.
    plan: fn(&str) -> Plan,
}

/// All strategies: the only list of them.
pub const STRATEGIES: &[StrategyInfo] = &[
    StrategyInfo {
        name: "fixed",
        summary: "every max_tokens tokens, wherever that falls",
        strategy: Strategy::Fixed,
        plan: fixed::plan,
    },
    StrategyInfo {
        name: "sentence",
        summary: "whole sentences, as many as fit",
        strategy: Strategy::Sentence,
        plan: sentence::plan,
    },
    StrategyInfo {
        name: "recursive",
        summary: "paragraphs, then lines, sentences, words: the largest unit that fits",
        strategy: Strategy::Recursive,
        plan: recursive::plan,
    },
    StrategyInfo {
        name: "markdown",
        summary: "Markdown blocks under their headings",
        strategy: Strategy::Markdown,
        plan: markdown::plan,
    },
];

impl Strategy {
    /// The name in SQL.
    pub fn as_str(self) -> &'static str {
        self.info().name
    }

    /// The places where `document` may be cut.
    pub(super) fn plan(self, document: &str) -> Plan {
        (self.info().plan)(document)
    }

    /// Its entry in [`STRATEGIES`], which has the order of the variants.
    fn info(self) -> &'static StrategyInfo {
        &STRATEGIES[self as usize]
    }
}

impl FromStr for Strategy {
    type Err = Error;

    fn from_str(name: &str) -> Result<Self> {
        let found = STRATEGIES.iter().find(|info| info.name == name);
        found.map(|info| info.strategy).ok_or_else(|| {
            let names: Vec<_> = STRATEGIES.iter().map(|info| info.name).collect();
            Error::invalid(format!("unknown chunking strategy \"{name}\""))
                .hint(format!("The strategies are {}.", names.join(", ")))
        })
    }
}

/// Where a document may be cut.
#[derive(Debug)]
pub(super) struct Plan {
    /// Stretches of the document that share no chunk, in order.
    pub sections: Vec<Section>,
    /// Places to cut, in byte offsets: for each kind of unit, largest first, the places where
    /// one begins, sorted. A unit goes to where the next of its kind or a larger one begins.
    pub levels: Vec<Vec<usize>>,
    /// Whether words are kept whole where no level has a place.
    pub whole_words: bool,
}

/// A stretch of the document with a heading of its own.
#[derive(Debug)]
pub(super) struct Section {
    /// Byte range.
    pub range: Range<usize>,
    /// Path of its headings.
    pub heading: Option<String>,
}

impl Plan {
    /// A plan for a document without sections.
    fn unsectioned(document: &str, levels: Vec<Vec<usize>>) -> Self {
        let section = Section { range: 0..document.len(), heading: None };
        Plan { sections: vec![section], levels, whole_words: true }
    }
}

/// Byte offset of the first character at or after `from` that is not white space.
pub(super) fn skip_white_space(text: &str, from: usize) -> usize {
    text.len() - text[from..].trim_start().len()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_lead_back_to_their_strategy() {
        for (number, info) in STRATEGIES.iter().enumerate() {
            assert_eq!(info.strategy as usize, number, "order of {}", info.name);
            assert_eq!(info.strategy.as_str(), info.name);
            assert_eq!(info.name.parse::<Strategy>(), Ok(info.strategy));
        }
    }

    #[test]
    fn unknown_name() {
        let error = "semantik".parse::<Strategy>().unwrap_err();
        assert_eq!(error.message(), "unknown chunking strategy \"semantik\"");
        assert_eq!(
            error.hint_text(),
            Some("The strategies are fixed, sentence, recursive, markdown.")
        );
    }
}
