//! The sentences of chunks that speak of the question.
//!
//! They are those that the built-in answerer would consider, as it ranks them: by the words that
//! they share with the question, and by what the model says of the most promising. The best of
//! all chunks are kept, each in its place; a chunk without any is gone.

use std::ops::Range;

use super::{CompressionTask, Goal, truncate};
use crate::context::Means;
use crate::context::excerpt::Excerpt;
use crate::error::Result;
use crate::extract::{self, Evidence};
use crate::prompt::tokens::Counter;

/// Most sentences that are embedded.
const MOST_EMBEDDED: usize = 32;

/// The chunks by their best sentences. Where the question has no words to go by, their beginnings.
pub(super) fn extracted(
    pieces: Vec<Excerpt>,
    task: &CompressionTask<'_>,
    means: &mut Means<'_>,
) -> Result<Vec<Excerpt>> {
    let goal = Goal::of(&pieces, task, means.counter)?;
    if goal.is_met() {
        return Ok(pieces);
    }
    let ranked = ranked(&pieces, task.question, means)?;
    let chosen = chosen(&pieces, &ranked, goal.most, means.counter)?;
    let shown = pieces.iter().cloned().zip(chosen).map(|(piece, ranges)| piece.with_only(ranges));
    let shown: Vec<Excerpt> = shown.filter(|piece| !piece.parts.is_empty()).collect();
    match shown.is_empty() {
        true => truncate::truncated(pieces, &goal, means.counter),
        false => Ok(shown),
    }
}

/// What of the chunks could be evidence, the best first.
fn ranked(pieces: &[Excerpt], question: &str, means: &mut Means<'_>) -> Result<Vec<Evidence>> {
    let passages: Vec<extract::ExtractPassage<'_>> = (1..)
        .zip(pieces)
        .map(|(number, piece)| extract::ExtractPassage {
            number,
            content: piece.base(),
            lead: 0,
            heading: piece.source.heading(),
            is_beginning: piece.source.chunk().is_some_and(|it| it.start_char == 0),
            dense_similarity: piece.source.similarity().map(|value| value as f32),
        })
        .collect();
    extract::ranked(question, &passages, means.embedder, MOST_EMBEDDED)
}

/// The ranges of each piece that are kept: the best that `most` tokens hold, and the very best.
fn chosen(
    pieces: &[Excerpt],
    ranked: &[Evidence],
    most: usize,
    counter: &mut dyn Counter,
) -> Result<Vec<Vec<Range<usize>>>> {
    let text = |one: &Evidence| pieces[one.passage].base()[one.bytes.clone()].to_owned();
    let sizes = counter.count(&ranked.iter().map(text).collect::<Vec<_>>())?;
    let mut chosen: Vec<Vec<Range<usize>>> = vec![Vec::new(); pieces.len()];
    let mut left = most;
    for (at, (one, size)) in ranked.iter().zip(sizes).enumerate() {
        let ranges = &mut chosen[one.passage];
        let is_there =
            |range: &Range<usize>| range.start <= one.bytes.start && one.bytes.end <= range.end;
        if (at == 0 || size <= left) && !ranges.iter().any(is_there) {
            left = left.saturating_sub(size);
            ranges.push(one.bytes.clone());
        }
    }
    Ok(chosen)
}
