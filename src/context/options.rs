//! What can be said about what is read: the group `context` of the options of a question.

use serde::Deserialize;

use super::compress::Compression;
use super::deduplication::Dedupe;
use super::order::ContextOrder;
use crate::error::{Error, Result};
use crate::options::out_of_range;

/// Most summaries of one answer.
const MOST_SUMMARIES: u32 = 100;

/// How chunks become what is read.
#[derive(Clone, Debug, PartialEq, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct ContextOptions {
    /// Most tokens that all of them take; 0: no limit but the model's window; `None`: the
    /// window's, or the usual.
    pub tokens: Option<u32>,
    /// The model that has the language model's own tokenizer.
    pub tokenizer: Option<String>,
    /// In which order chunks are read.
    pub order: ContextOrder,
    /// The column of the metadata by which they are in time.
    pub order_by: Option<String>,
    /// Whether the best is read once more behind the others.
    pub repeat_best: bool,
    /// Which chunks repeat another one and are left out.
    pub dedupe_chunks: Dedupe,
    /// Whether a sentence is shown once only.
    pub dedupe_sentences: bool,
    /// How they are made shorter.
    pub compression: Compression,
    /// The part of their tokens that is left then, above 0 and at most 1.
    pub compression_ratio: f64,
    /// Most chunks that a language model sums up.
    pub max_summaries: u32,
    /// What stands above each; `None`: its headings and metadata.
    pub headers: Option<Vec<String>>,
}

impl Default for ContextOptions {
    fn default() -> Self {
        ContextOptions {
            tokens: None,
            tokenizer: None,
            order: ContextOrder::Relevance,
            order_by: None,
            repeat_best: false,
            dedupe_chunks: Dedupe::Exact,
            dedupe_sentences: false,
            compression: Compression::None,
            compression_ratio: 0.5,
            max_summaries: 10,
            headers: None,
        }
    }
}

impl ContextOptions {
    /// An error where a value is out of its range, or one is missing that another value needs.
    pub fn check(&self) -> Result<()> {
        let ratio = self.compression_ratio;
        if !(ratio > 0.0 && ratio <= 1.0) {
            return Err(out_of_range("context.compression_ratio", "above 0 and at most 1", ratio));
        }
        if !(1..=MOST_SUMMARIES).contains(&self.max_summaries) {
            let range = format!("between 1 and {MOST_SUMMARIES}");
            return Err(out_of_range("context.max_summaries", range, self.max_summaries));
        }
        match (self.order, &self.order_by) {
            (ContextOrder::Chronological, None) => Err(Error::invalid("the order \"chronological\" needs the option \"context.order_by\"")
                .hint("Name a metadata column that holds a date, a time or a number, for instance {\"context\": {\"order\": \"chronological\", \"order_by\": \"written\"}}.")),
            (ContextOrder::Relevance | ContextOrder::UCurve, Some(_)) => {
                Err(Error::invalid("the option \"context.order_by\" is for the order \"chronological\" alone")
                    .hint("Add \"order\": \"chronological\", or leave order_by out."))
            }
            _ => Ok(()),
        }
    }
}

#[cfg(test)]
mod tests {
    use serde_json::{Value, json};

    use super::*;
    use crate::options;

    fn check(options: Value) -> Result<()> {
        options::read::<ContextOptions>("context", options, &[])?.check()
    }

    #[test]
    fn what_does_not_fit_together_is_an_error() {
        assert!(check(json!({})).is_ok());
        assert!(check(json!({"order": "chronological", "order_by": "day"})).is_ok());
        for wrong in [
            json!({"order": "chronological"}),
            json!({"order_by": "day"}),
            json!({"order": "random"}),
            json!({"compression_ratio": 0}),
            json!({"compression_ratio": 1.5}),
            json!({"max_summaries": 0}),
            json!({"max_summaries": 101}),
            json!({"repeat_best": 1}),
            json!({"tokens": -1}),
            json!({"compression": "zip"}),
        ] {
            assert!(check(wrong.clone()).is_err(), "{wrong}");
        }
    }
}
