//! Synthetic chunks: words as frequent as those of a language.

use std::collections::BTreeMap;
use std::fmt::Write;

/// Different words; the one of rank n occurs about 1/n times as often as the first.
const WORDS: f64 = 200_000.0;

/// Random numbers, always the same.
pub struct Draws(u64);

impl Draws {
    /// Those that begin at `seed`.
    pub fn new(seed: u64) -> Draws {
        Draws(seed)
    }

    /// From 0 to 1 (SplitMix64).
    pub fn next(&mut self) -> f64 {
        self.0 = self.0.wrapping_add(0x9E37_79B9_7F4A_7C15);
        let mut bits = self.0;
        bits = (bits ^ bits >> 30).wrapping_mul(0xBF58_476D_1CE4_E5B9);
        bits = (bits ^ bits >> 27).wrapping_mul(0x94D0_49BB_1331_11EB);
        ((bits ^ bits >> 31) >> 11) as f64 / (1u64 << 53) as f64
    }

    /// A rank from `first` to `last`, as often as words of these ranks occur.
    pub fn rank(&mut self, first: f64, last: f64) -> u32 {
        (first * (last / first).powf(self.next())) as u32
    }
}

/// A chunk of 40 to 200 words, as a tsvector's text.
pub fn chunk(number: u64) -> String {
    let mut draws = Draws::new(number.wrapping_mul(0x5851_F42D_4C95_7F2D));
    let length = draws.rank(40.0, 200.0);
    let mut positions: BTreeMap<u32, Vec<u32>> = BTreeMap::new();
    for position in 1..=length {
        positions.entry(draws.rank(1.0, WORDS)).or_default().push(position);
    }
    let mut text = String::new();
    for (word, places) in positions {
        let places: Vec<String> = places.iter().map(u32::to_string).collect();
        // Writing to a string does not fail.
        let _ = write!(text, "w{word}:{} ", places.join(","));
    }
    text
}

/// Questions of one kind.
pub struct Kind {
    pub name: &'static str,
    /// Ranks between which each word lies.
    words: &'static [(f64, f64)],
}

/// What is asked: words that most chunks have, words that few have, and some of both.
pub const KINDS: [Kind; 3] = [
    Kind { name: "3 common words", words: &[(2.0, 50.0), (2.0, 50.0), (2.0, 50.0)] },
    Kind { name: "3 rare words", words: &[(5e3, 1e5), (5e3, 1e5), (5e3, 1e5)] },
    Kind {
        name: "8 words of all kinds",
        words: &[
            (2.0, 20.0),
            (2.0, 20.0),
            (20.0, 300.0),
            (20.0, 300.0),
            (300.0, 5e3),
            (300.0, 5e3),
            (5e3, 1e5),
            (5e3, 1e5),
        ],
    },
];

impl Kind {
    /// Questions as tsqueries, whose words are joined by OR.
    pub fn questions(&self, count: usize) -> Vec<String> {
        let mut draws = Draws::new(self.words.len() as u64 + 1000 * self.words[0].0 as u64);
        let question = |_| {
            let word = |(first, last): &(f64, f64)| format!("w{}", draws.rank(*first, *last));
            self.words.iter().map(word).collect::<Vec<_>>().join(" | ")
        };
        (0..count).map(question).collect()
    }
}
