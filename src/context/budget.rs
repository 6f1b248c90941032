//! How much of the chunks can be read?
//!
//! ```text
//! (chunks, best first, tokens) → whole chunks, and perhaps the beginning of one more
//! ```
//!
//! What is counted is what is sent: a chunk with the lines around it and what stands above it.

use super::excerpt::Excerpt;
use crate::error::{Error, Result};
use crate::prompt::messages;
use crate::prompt::tokens::Counter;

/// Chunks that are looked at after the first that does not fit.
const MOST_TRIED: usize = 8;

/// Tokens for the chunks where the options don't say how many, and the model's window is not known.
/// It leaves a window of 8,192 tokens room for the rest of the question and for the answer.
pub const USUAL: usize = 6000;

/// Tokens that are left for an answer whose length is not limited.
const ANSWER: usize = 1024;

/// Tokens that are left for the template and for what a provider puts around messages.
const TEMPLATE: usize = 640;

/// How many tokens a call can read.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Room {
    /// Tokens of chunks; `None`: any number.
    pub sources: Option<usize>,
    /// Tokens of chunks and of what was written before; `None`: any number.
    pub all: Option<usize>,
}

impl Room {
    /// The tokens that chunks may take beside `notes` tokens of what was written before.
    #[must_use]
    pub fn beside(&self, notes: usize) -> Option<usize> {
        let left = self.all.map(|all| all.saturating_sub(notes));
        [self.sources, left].into_iter().flatten().min()
    }
}

/// What each of `sizes` gets of `most`: no more than it needs, and all that are cut get the same.
#[must_use]
pub fn shares(sizes: &[usize], most: usize) -> Vec<usize> {
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

/// The tokens that are left for chunks in a `window`, after a question of so many tokens and an
/// answer of at most so many.
#[must_use]
pub fn room(window: usize, question: usize, answer: Option<usize>) -> usize {
    let answer = answer.unwrap_or(ANSWER.min(window / 4));
    window.saturating_sub(answer).saturating_sub(question).saturating_sub(TEMPLATE)
}

/// As many of `pieces` as `budget` tokens can hold: the best whole, and of the first one that
/// does not fit a beginning that ends with a sentence.
///
/// Of the very first chunk, should none of its sentences fit, as many words as do. An error
/// where nothing fits.
pub fn fitted(
    pieces: Vec<Excerpt>,
    budget: usize,
    counter: &mut dyn Counter,
) -> Result<Vec<Excerpt>> {
    if pieces.is_empty() {
        return Ok(pieces);
    }
    let number = pieces.len();
    let sizes = sizes(&pieces, number, counter)?;
    let mut room = budget;
    let mut kept = Vec::new();
    let mut tried = 0;
    for (piece, size) in pieces.into_iter().zip(sizes) {
        if size <= room {
            room -= size;
            kept.push(piece);
        } else if tried < MOST_TRIED {
            tried += 1;
            let mut fits = |piece: &Excerpt| {
                let size = sizes_of(std::slice::from_ref(piece), number, &mut *counter)?;
                Ok(size <= room)
            };
            let cut = match piece.cut_at_sentence(&mut fits)? {
                None if kept.is_empty() && tried == 1 => piece.cut_at_word(&mut fits)?,
                cut => cut,
            };
            if let Some(cut) = cut {
                kept.push(cut);
                break;
            }
        } else {
            break;
        }
    }
    if kept.is_empty() { Err(none_fits(budget)) } else { Ok(kept) }
}

/// The tokens of each piece as it is sent, where there are `number` of them.
pub fn sizes(pieces: &[Excerpt], number: usize, counter: &mut dyn Counter) -> Result<Vec<usize>> {
    let sent = pieces.iter().map(|piece| messages::as_sent(number, &piece.prompt_source()));
    counter.count(&sent.collect::<Vec<_>>())
}

fn sizes_of(pieces: &[Excerpt], number: usize, counter: &mut dyn Counter) -> Result<usize> {
    Ok(sizes(pieces, number, counter)?.iter().sum())
}

/// Not a word fits.
pub fn none_fits(budget: usize) -> Error {
    Error::invalid(format!("no context fits into {budget} tokens"))
        .hint("Raise the option \"context.tokens\" or the server's context_window, or show fewer headers.")
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::super::excerpt::tests::{is_from_its_base, piece};
    use super::*;
    use crate::prompt::tokens::tests::Words;

    /// What the lines around a chunk take: two of three words, and the ends of four.
    const FRAME: usize = 10;

    fn texts(contents: &[&str], budget: usize) -> Vec<String> {
        let pieces = contents.iter().map(|content| piece(content)).collect();
        fitted(pieces, budget, &mut Words).unwrap().iter().map(Excerpt::text).collect()
    }

    #[test]
    fn the_best_are_whole_and_the_last_is_cut_at_a_sentence() {
        let chunks = ["One two three.", "Four five. Six seven. Eight.", "Nine."];
        let whole = 3 * FRAME + 3 + 5 + 1;
        assert_eq!(texts(&chunks, whole), chunks);
        assert_eq!(texts(&chunks, whole - 1), chunks[..2]);
        let of_two = 2 * FRAME + 3;
        let cut = |left: usize| texts(&chunks, of_two + left);
        assert_eq!(cut(5), chunks[..2]);
        assert_eq!(cut(4), [chunks[0], "Four five. [...]"]);
        assert_eq!(cut(3), [chunks[0], "Four five. [...]"]);
        // Not one of its sentences fits, and something less good does.
        assert_eq!(cut(2), [chunks[0], chunks[2]]);
        assert_eq!(cut(0), chunks[..1]);
    }

    #[test]
    fn one_long_sentence_is_cut_at_a_word() {
        let long = format!("{}end.", "word ".repeat(100));
        let beginning = format!("{}[...]", "word ".repeat(30 - FRAME - 1));
        assert_eq!(texts(&[&long], 30), [beginning]);
        // Not where something better is there.
        assert_eq!(texts(&["Short.", &long, "Tiny."], 30), ["Short.", "Tiny."]);
    }

    #[test]
    fn nothing_fits_into_nothing() {
        for budget in [0, 3] {
            let error = fitted(vec![piece("One.")], budget, &mut Words).unwrap_err();
            assert_eq!(error.message(), format!("no context fits into {budget} tokens"));
        }
        assert_eq!(fitted(Vec::new(), 0, &mut Words).unwrap(), []);
    }

    #[test]
    fn a_window_holds_more_than_chunks() {
        assert_eq!(room(8192, 20, None), 8192 - 1024 - 640 - 20);
        assert_eq!(room(8192, 20, Some(4000)), 8192 - 4000 - 640 - 20);
        assert_eq!(room(2048, 8, None), 2048 - 512 - 640 - 8);
        assert_eq!(room(1000, 10, Some(2000)), 0);
        assert!(USUAL < room(8192, 100, None));
    }

    #[test]
    fn what_one_does_not_need_is_left_to_others() {
        assert_eq!(shares(&[10, 2, 10], 14), [6, 2, 6]);
        assert_eq!(shares(&[10, 10], 40), [10, 10]);
        assert!(shares(&[], 7).is_empty());
        assert_eq!(shares(&[5, 5], 0), [0, 0]);
    }

    #[test]
    fn notes_take_room_from_chunks() {
        let room = Room { sources: Some(50), all: Some(80) };
        assert_eq!(
            (room.beside(0), room.beside(40), room.beside(99)),
            (Some(50), Some(40), Some(0))
        );
        assert_eq!(Room { sources: None, ..room }.beside(30), Some(50));
        assert_eq!(Room::default().beside(1000), None);
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

        #[test]
        fn the_budget_is_never_exceeded(
            texts in prop::collection::vec("([a-z]{1,5}[ .\n]{1,2}){0,20}", 1..6),
            budget in 0_usize..120,
        ) {
            let pieces: Vec<Excerpt> = texts.iter().map(|text| piece(text)).collect();
            let number = pieces.len();
            let Ok(found) = fitted(pieces.clone(), budget, &mut Words) else {
                let first = sizes_of(&pieces[..1], number, &mut Words).unwrap();
                prop_assert!(first > budget);
                return Ok(());
            };
            prop_assert!(sizes_of(&found, number, &mut Words).unwrap() <= budget);
            prop_assert!(!found.is_empty() && found.iter().all(is_from_its_base));
            let cut = found.iter().filter(|piece| piece.text() != piece.source.content());
            prop_assert!(cut.count() <= 1);
            // As few pieces as fit have no wider number, so they fit again.
            prop_assert_eq!(&fitted(found.clone(), budget, &mut Words).unwrap(), &found);
        }
    }
}
