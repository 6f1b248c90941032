//! # visited: has this walk been here?

use crate::error::Result;
use crate::spare;

/// A set of node numbers that is emptied at little cost.
///
/// A bit a node, so that the bits of a hundred thousand nodes lie near the processor; what a walk has set
/// is taken back before the next one, which is less than the walk itself has touched. Walks that come one after
/// the other share the memory, so a query allocates nothing.
#[derive(Debug, Default)]
pub struct Visited {
    words: Vec<u64>,
    /// Words that have bits.
    touched: Vec<u32>,
    /// Higher numbers are those of no node.
    limit: usize,
}

/// How far an index can grow while a walk is under way, beside its own size.
const GROWTH: usize = 1 << 20;

impl Visited {
    /// Empties the set, and makes room for numbers below `nodes`.
    pub fn begin(&mut self, nodes: usize) -> Result<()> {
        for word in self.touched.drain(..) {
            self.words[word as usize] = 0;
        }
        self.limit = nodes.saturating_mul(2).saturating_add(GROWTH);
        let words = nodes.div_ceil(64);
        if self.words.len() < words {
            let more = words - self.words.len();
            self.words.try_reserve(more).map_err(|_| spare::refused(8 * more))?;
            self.words.resize(words, 0);
        }
        Ok(())
    }

    /// Puts a number in; whether it was not there yet. A number that no node can have, from a damaged
    /// page, counts as there.
    pub fn insert(&mut self, node: u32) -> bool {
        if node as usize >= self.limit {
            return false;
        }
        let at = node as usize / 64;
        if at >= self.words.len() {
            // The index has grown since the walk began.
            self.words.resize((at + 1).next_multiple_of(1024), 0);
        }
        let before = self.words[at];
        if before == 0 {
            self.touched.push(at as u32);
        }
        self.words[at] = before | 1 << (node % 64);
        before != self.words[at]
    }

    /// Bytes of memory that it takes.
    #[must_use]
    pub fn bytes(&self) -> usize {
        8 * self.words.capacity() + 4 * self.touched.capacity()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn it_forgets_between_rounds_and_only_then() {
        let mut visited = Visited::default();
        for _ in 0..600 {
            visited.begin(10).unwrap();
            assert!(visited.insert(3) && visited.insert(2000));
            assert!(!visited.insert(3) && !visited.insert(2000));
            assert!(visited.insert(4));
        }
    }

    #[test]
    fn a_damaged_number_takes_no_memory() {
        let mut visited = Visited::default();
        visited.begin(1000).unwrap();
        assert!(!visited.insert(u32::MAX) && !visited.insert(u32::MAX - 7));
        assert!(visited.insert(100_000), "the index has grown");
        assert!(visited.bytes() < 2 << 20);
    }
}
