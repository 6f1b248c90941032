//! How are chunks made shorter?
//!
//! ```text
//! (chunks, best first, question) → shorter chunks, perhaps fewer, perhaps an overview of all
//! ```
//!
//! A file for each way: the beginnings ([`truncate`]), the sentences that speak of the question
//! ([`extractive`]), what a language model makes of each ([`summarize`]), or a bit of each
//! ([`hierarchical`]). The first two show nothing that is not in a chunk.

mod extractive;
mod hierarchical;
mod summarize;
mod truncate;

use serde::Deserialize;

use super::Means;
use super::excerpt::Excerpt;
use crate::error::Result;
use crate::prompt::messages::{self, PromptSource};
use crate::prompt::tokens::Counter;

/// How chunks are made shorter.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Compression {
    /// They are not made shorter.
    #[default]
    None,
    /// By their beginnings.
    Truncate,
    /// By their best sentences.
    Extractive,
    /// By what a language model makes of each.
    Summarize,
    /// The best by their best sentences, the next ones summed up, and an overview of all.
    Hierarchical,
}

impl Compression {
    /// As users write it, if a language model is asked.
    #[must_use]
    pub fn asks(self) -> Option<&'static str> {
        match self {
            Compression::Summarize => Some("summarize"),
            Compression::Hierarchical => Some("hierarchical"),
            Compression::None | Compression::Truncate | Compression::Extractive => None,
        }
    }
}

/// What is to be made shorter for what.
#[derive(Clone, Copy, Debug)]
pub struct CompressionTask<'a> {
    /// The question to be answered.
    pub question: &'a str,
    /// How it is made shorter.
    pub compression: Compression,
    /// The part of the tokens that is to be left, above 0 and at most 1.
    pub ratio: f64,
    /// Most tokens of all chunks with the lines around them; `None`: any number.
    pub budget: Option<usize>,
    /// Most tokens of what a language model reads at once; `None`: any number.
    pub call: Option<usize>,
    /// Most chunks that are summed up.
    pub max_summaries: usize,
}

/// What chunks have become.
#[derive(Clone, Debug, PartialEq)]
pub struct Compressed {
    /// The chunks that are left, best first.
    pub pieces: Vec<Excerpt>,
    /// What a language model says of all of them.
    pub overview: Option<String>,
}

/// The chunks made shorter. Where something was found, something is left.
pub fn compressed(
    pieces: Vec<Excerpt>,
    task: &CompressionTask<'_>,
    means: &mut Means<'_>,
) -> Result<Compressed> {
    let only = |pieces| Compressed { pieces, overview: None };
    if pieces.is_empty() {
        return Ok(only(pieces));
    }
    match task.compression {
        Compression::None => Ok(only(pieces)),
        Compression::Truncate => {
            let goal = Goal::of(&pieces, task, means.counter)?;
            truncate::truncated(pieces, &goal, means.counter).map(only)
        }
        Compression::Extractive => extractive::extracted(pieces, task, means).map(only),
        Compression::Summarize => summarize::all_summarized(pieces, task, means).map(only),
        Compression::Hierarchical => hierarchical::layered(pieces, task, means),
    }
}

/// How long chunks are, and how long they shall be.
struct Goal {
    /// Tokens of the text of each.
    sizes: Vec<usize>,
    /// Most tokens that are to be left of all texts.
    most: usize,
}

impl Goal {
    fn of(
        pieces: &[Excerpt],
        task: &CompressionTask<'_>,
        counter: &mut dyn Counter,
    ) -> Result<Goal> {
        let mut texts: Vec<String> = pieces.iter().map(Excerpt::text).collect();
        texts.extend(pieces.iter().map(|piece| {
            let bare = PromptSource { content: String::new(), ..piece.prompt_source() };
            messages::as_sent(pieces.len(), &bare)
        }));
        let mut sizes = counter.count(&texts)?;
        let around: usize = sizes.split_off(pieces.len()).iter().sum();
        let wanted = (task.ratio * sizes.iter().sum::<usize>() as f64).ceil() as usize;
        let room = task.budget.map_or(usize::MAX, |budget| budget.saturating_sub(around));
        Ok(Goal { most: wanted.min(room), sizes })
    }

    /// Whether nothing need be left out.
    fn is_met(&self) -> bool {
        self.sizes.iter().sum::<usize>() <= self.most
    }
}

#[cfg(test)]
pub mod tests;
