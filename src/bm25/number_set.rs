//! # number set: is this page, or this document, one of them?

/// Numbers below some number, one bit each.
#[derive(Debug)]
pub struct NumberSet(Vec<u64>);

impl NumberSet {
    /// An empty set, for numbers below this one.
    pub fn below(most: u32) -> NumberSet {
        NumberSet(vec![0; (most as usize).div_ceil(64)])
    }

    /// Puts a number in. Whether it fits, and was not there yet.
    pub fn insert(&mut self, number: u32) -> bool {
        let Some(word) = self.0.get_mut(number as usize / 64) else { return false };
        let before = *word;
        *word |= 1 << (number % 64);
        before != *word
    }

    /// Whether a number is in it.
    pub fn contains(&self, number: u32) -> bool {
        self.0.get(number as usize / 64).is_some_and(|word| word >> (number % 64) & 1 == 1)
    }
}
