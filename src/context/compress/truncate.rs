//! The beginnings of chunks.
//!
//! The tokens that are to be left are shared out: a chunk that needs less than its share leaves
//! the rest to longer ones.

use super::Goal;
use crate::context::budget::shares;
use crate::context::excerpt::Excerpt;
use crate::error::Result;
use crate::prompt::tokens::Counter;

/// The beginning of each chunk, which ends with a sentence.
pub(super) fn truncated(
    pieces: Vec<Excerpt>,
    goal: &Goal,
    counter: &mut dyn Counter,
) -> Result<Vec<Excerpt>> {
    let shares = shares(&goal.sizes, goal.most);
    let sizes = goal.sizes.iter().zip(shares);
    let short = |(piece, (size, share)): (Excerpt, (&usize, usize))| match *size <= share {
        true => Ok(piece),
        false => shortened(piece, share, counter),
    };
    pieces.into_iter().zip(sizes).map(short).collect()
}

/// As many whole sentences as `most` tokens hold, and the first in any case.
pub(super) fn shortened(piece: Excerpt, most: usize, counter: &mut dyn Counter) -> Result<Excerpt> {
    let mut fits =
        |piece: &Excerpt| Ok(counter.count(&[piece.text()])?.iter().sum::<usize>() <= most);
    if let Some(cut) = piece.cut_at_sentence(&mut fits)? {
        return Ok(cut);
    }
    let first = piece.sentences().into_iter().next();
    Ok(match first {
        Some(first) => piece.with_only(vec![first]),
        None => piece,
    })
}
