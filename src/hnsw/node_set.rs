//! # node set: is this node one of them?

use crate::error::Result;
use crate::spare;

/// A set of node numbers, one bit each.
#[derive(Clone, Debug)]
pub struct NodeSet {
    words: Vec<u64>,
    /// Higher numbers are those of no node.
    limit: usize,
}

/// How far an index can grow while a set is filled, beside its own size.
const GROWTH: usize = 1 << 20;

impl Default for NodeSet {
    /// An empty set of any numbers.
    fn default() -> NodeSet {
        NodeSet { words: Vec::new(), limit: usize::MAX }
    }
}

impl NodeSet {
    /// An empty set, with room for numbers below `nodes`.
    pub fn below(nodes: usize) -> Result<NodeSet> {
        let limit = nodes.saturating_mul(2).saturating_add(GROWTH);
        Ok(NodeSet { words: spare::filled(nodes.div_ceil(64), 0)?, limit })
    }

    /// Numbers below this one need no more memory.
    #[must_use]
    pub fn room(&self) -> usize {
        64 * self.words.len()
    }

    /// Puts a number in; whether it was not there yet. A number that no node can have, from a damaged
    /// page, counts as there.
    pub fn insert(&mut self, node: u32) -> bool {
        if node as usize >= self.limit {
            return false;
        }
        let word = node as usize / 64;
        if word >= self.words.len() {
            self.words.resize(word + 1, 0);
        }
        let before = self.words[word];
        self.words[word] |= 1 << (node % 64);
        before != self.words[word]
    }

    /// How many numbers [`NodeSet::insert_run`] puts in at most.
    pub const RUN: usize = 64;

    /// Puts in those of 64 numbers from `first` on, or of fewer, whose bits are set. `first` is a
    /// multiple of 64, or of a smaller power of two that the run does not exceed.
    pub fn insert_run(&mut self, first: u32, bits: u64) {
        let word = first as usize / 64;
        if word >= self.words.len() {
            self.words.resize(word + 1, 0);
        }
        self.words[word] |= bits << (first % 64);
    }

    /// Whether a number is in it.
    #[must_use]
    pub fn contains(&self, node: u32) -> bool {
        self.words.get(node as usize / 64).is_some_and(|word| word >> (node % 64) & 1 == 1)
    }

    /// How many numbers are in it.
    #[must_use]
    pub fn len(&self) -> usize {
        self.words.iter().map(|word| word.count_ones() as usize).sum()
    }

    /// Whether no number is in it.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.words.iter().all(|word| *word == 0)
    }

    /// The numbers, in ascending order.
    pub fn iter(&self) -> impl Iterator<Item = u32> + '_ {
        (0u32..).zip(&self.words).flat_map(|(index, word)| {
            let mut left = *word;
            std::iter::from_fn(move || {
                (left != 0).then(|| {
                    let bit = left.trailing_zeros();
                    left &= left - 1;
                    64 * index + bit
                })
            })
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;
    use std::collections::BTreeSet;

    proptest! {
        #[test]
        fn it_is_a_set(numbers in prop::collection::btree_set(0u32..5000, 0..200)) {
            let mut set = NodeSet::below(1000).unwrap();
            prop_assert!(numbers.iter().all(|number| set.insert(*number)));
            prop_assert!(!numbers.iter().any(|number| set.insert(*number)));
            prop_assert_eq!(set.iter().collect::<BTreeSet<u32>>(), numbers.clone());
            prop_assert_eq!((set.len(), set.is_empty()), (numbers.len(), numbers.is_empty()));
            prop_assert!((0..6000).all(|number| set.contains(number) == numbers.contains(&number)));
        }
    }
}
