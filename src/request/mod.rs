//! # request: with which options is a question asked?
//!
//! ```text
//! (arguments, options of the call, defaults of the pipeline) → options, and where each comes from
//! ```
//!
//! Every function that asks a pipeline takes one object of options, in groups that follow the steps of an
//! answer, and so do the defaults of a pipeline and the configurations of an evaluation. All groups are
//! checked wherever the object is given. Those of steps that a function does not take have no effect, so
//! that what is good for `rag_answer` can be given to `rag_retrieve` as it is.
//!
//! ```text
//! arguments  what a function has as arguments of its own, in the places that they have among the options
//! written    options as they are written, checked
//! layers     which of several says what
//! pipeline_list  which pipelines are named
//! ```

mod arguments;
mod layers;
mod pipeline_list;
mod written;

use serde::Deserialize;

pub use arguments::QuestionArguments;
pub use layers::{OptionLayers, OptionSource, SettingInForce};
pub use pipeline_list::{ALL, PipelineList};
pub use written::WrittenOptions;

use crate::answer::options::{AnswerOptions, CiteOptions};
use crate::context::ContextOptions;
use crate::error::{Error, Result};
use crate::options::{OptionGroup, keys};
use crate::retrieve::RetrieveOptions;
use crate::verify::options::VerifyOptions;

/// Most chunks one call returns.
pub const MOST_CHUNKS: i32 = 10_000;

/// All that can be said about how a question is answered.
#[derive(Clone, Debug, Default, PartialEq, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct QuestionOptions {
    /// How many chunks are found, or read; `None`: what suits the function.
    pub k: Option<i32>,
    /// The language model that answers, and rewrites, judges and the like unless another is named:
    /// 'extractive' or a foreign server; `None`: that of `rag.llm`.
    pub llm: Option<String>,
    /// How chunks are found.
    pub retrieve: RetrieveOptions,
    /// What of them is read.
    pub context: ContextOptions,
    /// How the answer is written.
    pub answer: AnswerOptions,
    /// How it is checked.
    pub verify: VerifyOptions,
    /// How it shows what it cites.
    pub cite: CiteOptions,
}

impl QuestionOptions {
    /// An error that names the first value out of its range, or two that exclude each other.
    pub fn check(&self) -> Result<()> {
        if let Some(k) = self.k.filter(|k| !(1..=MOST_CHUNKS).contains(k)) {
            return Err(Error::invalid(format!("k must be between 1 and {MOST_CHUNKS}, not {k}")));
        }
        self.retrieve.check()?;
        self.context.check()?;
        self.answer.check()?;
        self.cite.check()
    }
}

/// The groups of [`QuestionOptions`], in their order.
#[must_use]
pub fn groups() -> [OptionGroup; 5] {
    [
        OptionGroup { name: "retrieve", keys: keys::<RetrieveOptions>() },
        OptionGroup { name: "context", keys: keys::<ContextOptions>() },
        OptionGroup { name: "answer", keys: keys::<AnswerOptions>() },
        OptionGroup { name: "verify", keys: keys::<VerifyOptions>() },
        OptionGroup { name: "cite", keys: keys::<CiteOptions>() },
    ]
}

/// The keys of [`QuestionOptions`] that are no groups.
#[must_use]
pub fn bare_keys() -> Vec<&'static str> {
    let groups = groups();
    let is_bare = |key: &&&str| groups.iter().all(|group| group.name != **key);
    keys::<QuestionOptions>().iter().filter(is_bare).copied().collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn all_keys_are_known() {
        let names: Vec<&str> = groups().iter().map(|group| group.name).collect();
        assert_eq!(bare_keys(), ["k", "llm"]);
        assert_eq!([bare_keys(), names].concat(), keys::<QuestionOptions>());
        assert!(groups().iter().all(|group| !group.keys.is_empty()));
    }

    #[test]
    fn a_key_has_one_place_but_for_the_language_model() {
        let mut keys: Vec<&str> =
            groups().iter().flat_map(|group| group.keys).copied().chain(["k"]).collect();
        keys.sort_unstable();
        let repeated: Vec<&str> =
            keys.windows(2).filter(|pair| pair[0] == pair[1]).map(|pair| pair[0]).collect();
        assert!(repeated.is_empty(), "{repeated:?}");
    }
}
