//! # order: how many words stand elsewhere in the same order?
//!
//! ```text
//! (numbers, other numbers) → length of their longest common subsequence
//! ```
//!
//! A row of the usual table is a row of bits here, of which a whole machine word is computed at
//! once (Hyyrö, "Bit-parallel LCS-length computation revisited", AWOCA 2004).

use std::collections::HashMap;

/// A sequence that others are laid beside.
pub(super) struct SequenceMatcher {
    length: usize,
    /// Where each number stands in it: a bit for each place.
    places: HashMap<u32, Vec<u64>>,
}

impl SequenceMatcher {
    /// The order of `numbers`, to be compared with others.
    pub fn of(numbers: &[u32]) -> SequenceMatcher {
        let mut places: HashMap<u32, Vec<u64>> = HashMap::new();
        for (at, number) in numbers.iter().enumerate() {
            let bits = places.entry(*number).or_insert_with(|| vec![0; numbers.len().div_ceil(64)]);
            bits[at / 64] |= 1 << (at % 64);
        }
        SequenceMatcher { length: numbers.len(), places }
    }

    /// Most of its numbers that stand in `others` in the same order.
    pub fn in_common(&self, others: impl Iterator<Item = u32>) -> usize {
        // A zero is a place at which the row of the table grows by one.
        let mut row = vec![u64::MAX; self.length.div_ceil(64)];
        for places in others.filter_map(|other| self.places.get(&other)) {
            let mut carry = false;
            for (bits, places) in row.iter_mut().zip(places) {
                let (sum, over) = bits.overflowing_add(*bits & places);
                let (sum, carried) = sum.overflowing_add(u64::from(carry));
                carry = over || carried;
                *bits = sum | (*bits & !places);
            }
        }
        let grows = |at: usize| row[at / 64] >> (at % 64) & 1 == 0;
        (0..self.length).filter(|at| grows(*at)).count()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    /// The usual table, row by row.
    fn twin(numbers: &[u32], others: &[u32]) -> usize {
        let mut row = vec![0; numbers.len() + 1];
        for other in others {
            let mut diagonal = 0;
            for (at, number) in numbers.iter().enumerate() {
                let above = row[at + 1];
                row[at + 1] = if number == other { diagonal + 1 } else { above.max(row[at]) };
                diagonal = above;
            }
        }
        row[numbers.len()]
    }

    proptest! {
        #[test]
        fn it_equals_the_usual_table(
            numbers in prop::collection::vec(0..9u32, 0..300),
            others in prop::collection::vec(0..9u32, 0..300),
        ) {
            let found = SequenceMatcher::of(&numbers).in_common(others.iter().copied());
            prop_assert_eq!(found, twin(&numbers, &others));
        }
    }
}
