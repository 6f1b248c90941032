//! A bit of each: an overview of all chunks, summaries of the middle, excerpts of the best.
//!
//! The best third speaks for itself, by its best sentences. The next third is summed up, chunk by
//! chunk. The rest is read through the overview, which has no number and cannot be cited.

use super::summarize::{asked, begun, prompt, summarized};
use super::{Compressed, CompressionTask, extractive};
use crate::context::Means;
use crate::context::excerpt::Excerpt;
use crate::error::Result;

/// Name of the template in which an overview is asked for.
const TEMPLATE: &str = "overview_context";

/// Words that an overview may have.
const WORDS: usize = 120;

/// The chunks in layers. A single one needs no overview.
pub(super) fn layered(
    mut pieces: Vec<Excerpt>,
    task: &CompressionTask<'_>,
    means: &mut Means<'_>,
) -> Result<Compressed> {
    if pieces.len() < 2 {
        return Ok(Compressed {
            pieces: extractive::extracted(pieces, task, means)?,
            overview: None,
        });
    }
    let overview = prompt(TEMPLATE, &pieces, WORDS, task, means)?;
    let third = pieces.len().div_ceil(3);
    let mut middle = pieces.split_off(third);
    middle.truncate(third.min(task.max_summaries));
    let mut shown = extractive::extracted(pieces, task, means)?;
    let (begun, mut prompts) = begun(middle, task, means)?;
    // Nothing of one is needed for another.
    prompts.insert(0, overview);
    let mut said = asked(prompts, means)?.into_iter();
    let overview = said.next().flatten().filter(|text| !text.is_empty());
    shown.extend(summarized(begun, &mut said, task, means)?);
    Ok(Compressed { pieces: shown, overview })
}
