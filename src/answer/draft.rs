//! An answer as it was written, before its citations are looked up and its claims checked.

use serde_json::Value;

use super::citation::Citations;
use super::form::{FormedAnswer, ReadValues};
use crate::context::Reading;

/// What an answerer wrote.
#[derive(Clone, Debug, PartialEq)]
pub struct Draft {
    /// The text; its marker [n] cites the n-th of `readings`. Of an answer with a form, its values as text.
    pub text: String,
    /// The answer that has the form that was asked for.
    pub formed: Option<FormedAnswer>,
    /// All that was read, in the order of its numbers.
    pub readings: Vec<Reading>,
    /// Whether the text says that it is an answer from the sources.
    pub supported: bool,
    /// Probability that there is an answer, from 0 to 1, where the answerer gives one.
    pub confidence: Option<f32>,
    /// What is cited, where the answerer says so exactly; else the markers are looked up.
    pub citations: Option<Citations>,
    /// `strategy`, `calls`, `steps`, tokens, and `stopped_by` where the budget was spent.
    pub usage: Value,
}

impl Draft {
    /// What a language model wrote: its markers say what it cites, and nothing how sure it is.
    #[must_use]
    pub fn of_model(text: String, readings: Vec<Reading>, supported: bool, usage: Value) -> Draft {
        Draft { text, formed: None, readings, supported, confidence: None, citations: None, usage }
    }

    /// What a language model wrote in the form that was asked for.
    #[must_use]
    pub fn in_form(formed: FormedAnswer, readings: Vec<Reading>, usage: Value) -> Draft {
        let text = formed.text(ReadValues::All);
        Draft { formed: Some(formed), ..Draft::of_model(text, readings, true, usage) }
    }
}
