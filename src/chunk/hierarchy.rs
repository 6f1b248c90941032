//! How do small chunks know the larger ones they are parts of?
//!
//! Small chunks are found more easily, and a reader wants more of the text. So a document is
//! cut twice at the same places: into parents of `max_tokens`, and each parent into chunks of
//! `child_tokens`. No chunk reaches from one parent into another.

use super::method::{CutPlan, Section};
use super::options::ChunkingOptions;
use super::packing::{PackedChunk, Packer};
use super::token_index::TokenIndex;
use super::{Chunk, Tokenizer, to_chunks};
use crate::error::Result;
use crate::text::character_counter::CharacterCounter;

/// The chunks of `document` with their parents' places.
pub(super) fn chunks(
    document: &str,
    plan: CutPlan,
    index: &TokenIndex,
    options: &ChunkingOptions,
    tokenizer: &dyn Tokenizer,
) -> Result<Vec<Chunk>> {
    // Parents are the text around a chunk, which what they repeat would be twice.
    let of_parents = ChunkingOptions { overlap: 0, ..options.clone() };
    let of_children = ChunkingOptions { max_tokens: options.longest(), ..options.clone() };
    let parents = Packer::new(document, &plan, index, &of_parents, tokenizer).pack()?;
    let plan = inside(plan, &parents);
    let pieces = Packer::new(document, &plan, index, &of_children, tokenizer).pack()?;
    let sections: Vec<usize> = pieces.iter().map(|piece| piece.section).collect();
    let mut chunks = to_chunks(document, &plan, pieces, tokenizer.special_tokens());
    let mut starts = CharacterCounter::new(document);
    let mut ends = CharacterCounter::new(document);
    let places: Vec<(u32, u32)> = parents
        .iter()
        .map(|parent| (starts.count_to(parent.range.start), ends.count_to(parent.range.end)))
        .collect();
    for (chunk, section) in chunks.iter_mut().zip(sections) {
        chunk.parent = Some(places[section]);
    }
    Ok(chunks)
}

/// `plan` with a section for each parent.
fn inside(plan: CutPlan, parents: &[PackedChunk]) -> CutPlan {
    let section = |parent: &PackedChunk| Section {
        range: parent.range.clone(),
        heading: plan.sections[parent.section].heading.clone(),
    };
    let sections = parents.iter().map(section).collect();
    CutPlan { sections, ..plan }
}
