//! # visited: has this walk been here?

use crate::error::Result;
use crate::spare;

/// A set of node numbers that is emptied at next to no cost.
///
/// A byte a node says in which round it was last visited. Walks that come one after the other
/// share the memory, so a query allocates nothing; a fresh one is wanted for 255 rounds at
/// the latest.
#[derive(Debug, Default)]
pub struct Visited {
    rounds: Vec<u8>,
    round: u8,
    /// Higher numbers are those of no node.
    limit: usize,
}

/// How far an index can grow while a walk is under way, beside its own size.
const GROWTH: usize = 1 << 20;

impl Visited {
    /// Empties the set, and makes room for numbers below `nodes`.
    pub fn begin(&mut self, nodes: usize) -> Result<()> {
        if self.round == u8::MAX {
            self.rounds.fill(0);
            self.round = 0;
        }
        self.round += 1;
        self.limit = nodes.saturating_mul(2).saturating_add(GROWTH);
        if self.rounds.len() < nodes {
            let more = nodes - self.rounds.len();
            self.rounds.try_reserve(more).map_err(|_| spare::refused(more))?;
            self.rounds.resize(nodes, 0);
        }
        Ok(())
    }

    /// Puts a number in; whether it was not there yet. A number that no node can have, from a damaged
    /// page, counts as there.
    pub fn insert(&mut self, node: u32) -> bool {
        let node = node as usize;
        if node >= self.limit {
            return false;
        }
        if node >= self.rounds.len() {
            // The index has grown since the walk began.
            self.rounds.resize((node + 1).next_multiple_of(1024), 0);
        }
        std::mem::replace(&mut self.rounds[node], self.round) != self.round
    }

    /// Bytes of memory that it takes.
    #[must_use]
    pub fn bytes(&self) -> usize {
        self.rounds.capacity()
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
