//! What a language model makes of each chunk for the question.
//!
//! A call for each of the best chunks, so that what is said of one is not mixed up with another;
//! the rest are cut. What the model writes is data like the chunk, and what an answer cites is
//! looked up in the chunk itself.

use super::{Task, truncate};
use crate::answer::marker::markers;
use crate::context::Means;
use crate::context::budget::fitted;
use crate::context::excerpt::Piece;
use crate::context::prompt::{Source, is_no_answer, summary_messages};
use crate::error::Result;

/// In which words a summary is asked for.
const TEMPLATE: &str = "summarize_context";

/// Chunks of so many tokens or fewer are left as they are.
const SHORTEST: usize = 60;

/// Words that a summary may have at least.
const LEAST_WORDS: usize = 20;

/// Tokens of a text for each of its words, about.
const TOKENS_OF_WORD: f64 = 1.3;

/// The chunks by their summaries. Those that say nothing to the question are gone; if that is
/// all of them, the best stays as it was.
pub(super) fn all_summarized(
    pieces: Vec<Piece>,
    task: &Task<'_>,
    means: &mut Means<'_>,
) -> Result<Vec<Piece>> {
    let best = pieces.first().cloned();
    let mut shown = Vec::with_capacity(pieces.len());
    for (at, piece) in pieces.into_iter().enumerate() {
        let size = size(&piece, means)?;
        match at < task.max_summaries {
            true => shown.extend(summarized(piece, size, task, means)?),
            false => shown.push(shortened(piece, size, task, means)?),
        }
    }
    if shown.is_empty() {
        shown.extend(best);
    }
    Ok(shown)
}

/// A chunk of `size` tokens by its summary; `None` where it says nothing to the question.
///
/// A summary that is not shorter is none, and the chunk is cut.
pub(super) fn summarized(
    piece: Piece,
    size: usize,
    task: &Task<'_>,
    means: &mut Means<'_>,
) -> Result<Option<Piece>> {
    if size <= SHORTEST {
        return Ok(Some(piece));
    }
    let words = (task.ratio * size as f64 / TOKENS_OF_WORD) as usize;
    let one = std::slice::from_ref(&piece);
    let Some(summary) = asked(TEMPLATE, one, words.max(LEAST_WORDS), task, means)? else {
        return Ok(None);
    };
    match summary.is_empty() || summary.len() >= piece.text().len() {
        true => shortened(piece, size, task, means).map(Some),
        false => Ok(Some(piece.summarized(summary))),
    }
}

/// What a language model makes of `pieces`, as far as they fit, in about so many words; `None`
/// where it says that there is nothing in them.
pub(super) fn asked(
    template: &str,
    pieces: &[Piece],
    words: usize,
    task: &Task<'_>,
    means: &mut Means<'_>,
) -> Result<Option<String>> {
    let sources: Vec<Source> = match task.budget {
        None => pieces.iter().map(Piece::source).collect(),
        Some(budget) => {
            let fitted = fitted(pieces.to_vec(), budget, means.counter)?;
            fitted.iter().map(Piece::source).collect()
        }
    };
    let template = (means.templates)(template)?;
    let nonce = (means.nonce)()?;
    let messages = summary_messages(&template, task.question, &sources, words, &nonce)?;
    let answer = means.writer.write(&messages)?;
    Ok((!is_no_answer(&answer)).then(|| plain(&answer)))
}

/// What was written, without what a reader could take for the number of a source.
fn plain(answer: &str) -> String {
    let mut text: String = answer.chars().filter(|c| *c != '\0').collect();
    for marker in markers(&text).into_iter().rev() {
        text.replace_range(marker.range, "");
    }
    text.trim().to_owned()
}

fn shortened(piece: Piece, size: usize, task: &Task<'_>, means: &mut Means<'_>) -> Result<Piece> {
    let most = (task.ratio * size as f64) as usize;
    if size <= most.max(SHORTEST) {
        return Ok(piece);
    }
    truncate::shortened(piece, most, means.counter)
}

/// The tokens of a chunk's text.
pub(super) fn size(piece: &Piece, means: &mut Means<'_>) -> Result<usize> {
    Ok(means.counter.count(&[piece.text()])?.iter().sum())
}
