//! What a language model makes of each chunk for the question.
//!
//! A call for each of the best chunks, so that what is said of one is not mixed up with another,
//! and all of them at once; the rest are cut. What the model writes is data like the chunk, and
//! what an answer cites is looked up in the chunk itself.

use super::{CompressionTask, truncate};
use crate::context::Means;
use crate::context::budget::fitted;
use crate::context::excerpt::Excerpt;
use crate::error::Result;
use crate::prompt::messages::{Message, PromptSource, is_no_answer, summary_messages};
use crate::text::marker::markers;

/// Name of the template in which a summary is asked for.
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
    mut pieces: Vec<Excerpt>,
    task: &CompressionTask<'_>,
    means: &mut Means<'_>,
) -> Result<Vec<Excerpt>> {
    let best = pieces.first().cloned();
    let others = pieces.split_off(task.max_summaries.min(pieces.len()));
    let (begun, prompts) = begun(pieces, task, means)?;
    let mut said = asked(prompts, means)?.into_iter();
    let mut shown = summarized(begun, &mut said, task, means)?;
    let sizes = sizes(&others, means)?;
    for (piece, size) in others.into_iter().zip(sizes) {
        shown.push(shortened(piece, size, task, means)?);
    }
    if shown.is_empty() {
        shown.extend(best);
    }
    Ok(shown)
}

/// A chunk that is to be summed up.
pub(super) struct SummaryJob {
    piece: Excerpt,
    size: usize,
    /// Whether the language model is asked; short ones are left as they are.
    is_asked: bool,
}

/// What has to be asked to sum each of `pieces` up.
pub(super) fn begun(
    pieces: Vec<Excerpt>,
    task: &CompressionTask<'_>,
    means: &mut Means<'_>,
) -> Result<(Vec<SummaryJob>, Vec<Vec<Message>>)> {
    let mut prompts = Vec::new();
    let mut begun = Vec::with_capacity(pieces.len());
    let sizes = sizes(&pieces, means)?;
    for (piece, size) in pieces.into_iter().zip(sizes) {
        let is_asked = size > SHORTEST;
        if is_asked {
            let words = (task.ratio * size as f64 / TOKENS_OF_WORD) as usize;
            let one = std::slice::from_ref(&piece);
            prompts.push(prompt(TEMPLATE, one, words.max(LEAST_WORDS), task, means)?);
        }
        begun.push(SummaryJob { piece, size, is_asked });
    }
    Ok((begun, prompts))
}

/// What the chunks become by what was `said` of each that was asked about. Those of which nothing was
/// said are gone.
///
/// A summary that is not shorter is none, and the chunk is cut.
pub(super) fn summarized(
    begun: Vec<SummaryJob>,
    said: &mut dyn Iterator<Item = Option<String>>,
    task: &CompressionTask<'_>,
    means: &mut Means<'_>,
) -> Result<Vec<Excerpt>> {
    let mut shown = Vec::with_capacity(begun.len());
    for SummaryJob { piece, size, is_asked } in begun {
        if !is_asked {
            shown.push(piece);
            continue;
        }
        let Some(summary) = said.next().flatten() else { continue };
        shown.push(match summary.is_empty() || summary.len() >= piece.text().len() {
            true => shortened(piece, size, task, means)?,
            false => piece.summarized(summary),
        });
    }
    Ok(shown)
}

/// The messages in which a language model is asked about `pieces`, as many as fit, in about so many
/// words.
pub(super) fn prompt(
    template: &str,
    pieces: &[Excerpt],
    words: usize,
    task: &CompressionTask<'_>,
    means: &mut Means<'_>,
) -> Result<Vec<Message>> {
    let sources: Vec<PromptSource> = match task.call {
        None => pieces.iter().map(Excerpt::prompt_source).collect(),
        Some(room) => {
            let fitted = fitted(pieces.to_vec(), room, means.counter)?;
            fitted.iter().map(Excerpt::prompt_source).collect()
        }
    };
    let template = (means.templates)(template)?;
    let nonce = (means.nonce)()?;
    summary_messages(&template, task.question, &sources, words, &nonce)
}

/// What a language model makes of each of `prompts`, which are asked at once; `None` where it says
/// that there is nothing in them.
pub(super) fn asked(
    prompts: Vec<Vec<Message>>,
    means: &mut Means<'_>,
) -> Result<Vec<Option<String>>> {
    let answers = means.writer.write_all(prompts)?;
    let said = answers.iter().map(|answer| (!is_no_answer(answer)).then(|| plain(answer)));
    Ok(said.collect())
}

/// What was written, without what a reader could take for the number of a source.
fn plain(answer: &str) -> String {
    let mut text: String = answer.chars().filter(|c| *c != '\0').collect();
    for marker in markers(&text).into_iter().rev() {
        text.replace_range(marker.range, "");
    }
    text.trim().to_owned()
}

fn shortened(
    piece: Excerpt,
    size: usize,
    task: &CompressionTask<'_>,
    means: &mut Means<'_>,
) -> Result<Excerpt> {
    let most = (task.ratio * size as f64) as usize;
    if size <= most.max(SHORTEST) {
        return Ok(piece);
    }
    truncate::shortened(piece, most, means.counter)
}

/// The tokens of each chunk's text.
fn sizes(pieces: &[Excerpt], means: &mut Means<'_>) -> Result<Vec<usize>> {
    means.counter.count(&pieces.iter().map(Excerpt::text).collect::<Vec<_>>())
}
