//! A bit of each: an overview of all chunks, summaries of the middle, excerpts of the best.
//!
//! The best third speaks for itself, by its best sentences. The next third is summed up, chunk by
//! chunk. Of the rest is read what the overview says of it, which has no number and cannot be
//! cited.

use super::summarize::{asked, size, summarized};
use super::{Compressed, Task, extractive};
use crate::context::Means;
use crate::context::excerpt::Piece;
use crate::error::Result;

/// In which words an overview is asked for.
const TEMPLATE: &str = "overview_context";

/// Words that an overview may have.
const WORDS: usize = 120;

/// The chunks in layers. A single one needs no overview.
pub(super) fn layered(
    mut pieces: Vec<Piece>,
    task: &Task<'_>,
    means: &mut Means<'_>,
) -> Result<Compressed> {
    let overview = match pieces.len() {
        0 | 1 => None,
        _ => asked(TEMPLATE, &pieces, WORDS, task, means)?.filter(|text| !text.is_empty()),
    };
    let third = pieces.len().div_ceil(3);
    let middle = pieces.split_off(third);
    let mut shown = extractive::extracted(pieces, task, means)?;
    for piece in middle.into_iter().take(third.min(task.max_summaries)) {
        let size = size(&piece, means)?;
        shown.extend(summarized(piece, size, task, means)?);
    }
    Ok(Compressed { pieces: shown, overview })
}
