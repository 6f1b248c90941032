//! The beginnings of chunks.
//!
//! The tokens that are to be left are shared out: a chunk that needs less than its share leaves
//! the rest to longer ones.

use super::Goal;
use crate::context::excerpt::Piece;
use crate::context::tokens::Counter;
use crate::error::Result;

/// The beginning of each chunk, which ends with a sentence.
pub(super) fn truncated(
    pieces: Vec<Piece>,
    goal: &Goal,
    counter: &mut dyn Counter,
) -> Result<Vec<Piece>> {
    let shares = shares(&goal.sizes, goal.most);
    let sizes = goal.sizes.iter().zip(shares);
    let short = |(piece, (size, share)): (Piece, (&usize, usize))| match *size <= share {
        true => Ok(piece),
        false => shortened(piece, share, counter),
    };
    pieces.into_iter().zip(sizes).map(short).collect()
}

/// As many whole sentences as `most` tokens hold, and the first in any case.
pub(super) fn shortened(piece: Piece, most: usize, counter: &mut dyn Counter) -> Result<Piece> {
    let mut fits =
        |piece: &Piece| Ok(counter.count(&[piece.text()])?.iter().sum::<usize>() <= most);
    if let Some(cut) = piece.cut_at_sentence(&mut fits)? {
        return Ok(cut);
    }
    let first = piece.sentences().into_iter().next();
    Ok(match first {
        Some(first) => piece.with_only(vec![first]),
        None => piece,
    })
}

/// What each of `sizes` gets of `most`: no more than it needs, and all that are cut get the same.
fn shares(sizes: &[usize], most: usize) -> Vec<usize> {
    let mut order: Vec<usize> = (0..sizes.len()).collect();
    order.sort_by_key(|index| sizes[*index]);
    let mut shares = vec![0; sizes.len()];
    let mut left = most;
    for (done, index) in order.into_iter().enumerate() {
        shares[index] = sizes[index].min(left / (sizes.len() - done));
        left -= shares[index];
    }
    shares
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::shares;

    #[test]
    fn what_one_does_not_need_is_left_to_others() {
        assert_eq!(shares(&[10, 2, 10], 14), [6, 2, 6]);
        assert_eq!(shares(&[10, 10], 40), [10, 10]);
        assert!(shares(&[], 7).is_empty());
        assert_eq!(shares(&[5, 5], 0), [0, 0]);
    }

    proptest! {
        #[test]
        fn no_more_is_shared_than_there_is(sizes in prop::collection::vec(0_usize..50, 0..10), most in 0_usize..300) {
            let shares = shares(&sizes, most);
            let sum: usize = shares.iter().sum();
            prop_assert!(sum <= most);
            prop_assert!(shares.iter().zip(&sizes).all(|(share, size)| share <= size));
            if sizes.iter().sum::<usize>() <= most {
                prop_assert_eq!(shares, sizes);
            }
        }
    }
}
