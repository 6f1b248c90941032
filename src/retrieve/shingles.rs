//! How much of two texts is the same, word for word?
//!
//! ```text
//! text → its shingles: all runs of three words; two texts → the share of shingles that both have
//! ```
//!
//! The resemblance of Broder (SEQUENCES 1997): shared shingles by all shingles, Jaccard's coefficient.
//! Vectors say that two texts mean the same; shingles say that one is a copy of the other in which
//! little was changed, and keep apart two notices that differ in the one date that matters as much as in
//! a paragraph. A word changed in the middle of a text of n words takes 3 of its n - 2 shingles.

use std::hash::{DefaultHasher, Hash, Hasher};

use unicode_segmentation::UnicodeSegmentation;

/// Words of a shingle.
const WORDS: usize = 3;

/// The shingles of a text, each once, as hashes in their order.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Shingles(Vec<u64>);

impl Shingles {
    /// The shingles of `text`. Its words are those of Unicode, in lower case, so punctuation and
    /// white space do not count, and a Chinese character is a word. A text of fewer than three
    /// words is one shingle.
    #[must_use]
    pub fn of(text: &str) -> Self {
        let words: Vec<String> = text.unicode_words().map(str::to_lowercase).collect();
        let mut hashes: Vec<u64> = match words.len() {
            0 => Vec::new(),
            count => words.windows(WORDS.min(count)).map(hash).collect(),
        };
        hashes.sort_unstable();
        hashes.dedup();
        Shingles(hashes)
    }

    /// The shingles of both by those of either, from 0 to 1; 0 where there are none.
    #[must_use]
    pub fn resemblance(&self, other: &Self) -> f64 {
        let (mut here, mut there, mut both) = (0, 0, 0);
        while let (Some(a), Some(b)) = (self.0.get(here), other.0.get(there)) {
            both += usize::from(a == b);
            here += usize::from(a <= b);
            there += usize::from(b <= a);
        }
        let all = self.0.len() + other.0.len() - both;
        if all > 0 { both as f64 / all as f64 } else { 0.0 }
    }
}

fn hash(words: &[String]) -> u64 {
    let mut hasher = DefaultHasher::new();
    words.hash(&mut hasher);
    hasher.finish()
}

#[cfg(test)]
mod tests {
    use std::collections::HashSet;

    use proptest::prelude::*;

    use super::*;

    fn resemblance(a: &str, b: &str) -> f64 {
        Shingles::of(a).resemblance(&Shingles::of(b))
    }

    #[test]
    fn words_count_and_not_how_they_are_set() {
        assert_eq!(resemblance("The mill, it burned.", "the MILL\nit   burned"), 1.0);
        assert_eq!(resemblance("Nine", "nine!"), 1.0);
        assert_eq!(resemblance("a b c d", "d c b a"), 0.0);
        assert_eq!(resemblance("", ""), 0.0);
        assert_eq!(resemblance("...", "the mill"), 0.0);
    }

    #[test]
    fn a_changed_word_costs_three_shingles() {
        // 8 of 10 words' shingles each, 5 of them shared: 5 / 11.
        let (a, b) = ("a b c d e f g h i j", "a b c d X f g h i j");
        assert_eq!(resemblance(a, b), 5.0 / 11.0);
        // The last word is in one only.
        assert_eq!(resemblance(a, "a b c d e f g h i X"), 7.0 / 9.0);
    }

    #[test]
    fn a_character_of_chinese_is_a_word() {
        assert_eq!(resemblance("图书馆九点开门", "图书馆九点关门"), 3.0 / 7.0);
    }

    /// The definition, over sets of words.
    fn naive(a: &[u8], b: &[u8]) -> f64 {
        fn set(words: &[u8]) -> HashSet<&[u8]> {
            let size = WORDS.min(words.len()).max(1);
            words.windows(size).collect()
        }
        let (a, b) = (set(a), set(b));
        let all = a.union(&b).count();
        if all > 0 { a.intersection(&b).count() as f64 / all as f64 } else { 0.0 }
    }

    proptest! {
        #[test]
        fn it_is_jaccards_coefficient(
            a in prop::collection::vec(0_u8..4, 0..20),
            b in prop::collection::vec(0_u8..4, 0..20),
        ) {
            let text = |words: &[u8]| {
                words.iter().map(|word| format!("w{word}")).collect::<Vec<_>>().join(", ")
            };
            prop_assert_eq!(resemblance(&text(&a), &text(&b)), naive(&a, &b));
        }
    }
}
