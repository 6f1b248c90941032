//! # term_places: where does a term of the question stand in a text?
//!
//! ```text
//! (term, words of a text) → the credit of the best word, and the places of all that fit
//! ```

use super::terms::term_credit;
use crate::text::words::Word;

/// Whether `word` is the common noun of which the name `term` looks like the plural: no "window" is "Windows".
fn is_other_thing(term: &Word, word: &Word) -> bool {
    term.is_name && !word.is_name && term.folded.strip_suffix('s') == Some(word.folded.as_str())
}

/// Where a term stands in a text.
pub(super) struct TermPlaces {
    /// How well the best of the text's words fits it, from 0 to 1.
    pub credit: f32,
    /// The indexes of the words that fit.
    at: Vec<usize>,
}

impl TermPlaces {
    /// Looks for `term` among the words of a text.
    pub fn of(term: &Word, words: &[Word]) -> TermPlaces {
        let mut places = TermPlaces { credit: 0.0, at: Vec::new() };
        for (index, word) in words.iter().enumerate() {
            let credit = term_credit(&term.folded, &word.folded);
            if credit > 0.0 && !is_other_thing(term, word) {
                places.credit = places.credit.max(credit);
                places.at.push(index);
            }
        }
        places
    }

    /// Words from a place of `self` to the nearest of `other`, at least 1.
    ///
    /// Both lists are sorted: whichever place is behind is moved on.
    fn distance(&self, other: &TermPlaces) -> Option<usize> {
        let (mut i, mut j) = (0, 0);
        let mut nearest = None;
        while let (Some(&a), Some(&b)) = (self.at.get(i), other.at.get(j)) {
            let distance = a.abs_diff(b).max(1);
            nearest = Some(nearest.map_or(distance, |nearest: usize| nearest.min(distance)));
            if a < b { i += 1 } else { j += 1 }
        }
        nearest
    }
}

/// How close to each other neighbouring terms of the question stand, from 0 to 1.
pub(super) fn closeness(places: &[TermPlaces]) -> f32 {
    let pairs = places.windows(2).map(|pair| pair[0].distance(&pair[1]));
    let sum: f32 = pairs.map(|distance| distance.map_or(0.0, |words| 1.0 / words as f32)).sum();
    sum / places.len().saturating_sub(1).max(1) as f32
}
