//! # best: which hits are the best so far?

use std::cmp::Ordering;
use std::collections::BinaryHeap;

use crate::pages::RowId;

/// A row that was found.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Bm25Hit {
    /// The row of the table.
    pub row: RowId,
    /// Its score, from 0 on.
    pub score: f64,
}

impl Bm25Hit {
    /// Where it comes: higher scores first, and of equal ones the lower row.
    pub fn order(&self, other: &Bm25Hit) -> Ordering {
        other.score.total_cmp(&self.score).then(self.row.cmp(&other.row))
    }
}

/// A hit whose order is that in which hits are given.
#[derive(Clone, Copy, Debug, PartialEq)]
struct Placed(Bm25Hit);

impl Eq for Placed {}

impl Ord for Placed {
    fn cmp(&self, other: &Placed) -> Ordering {
        self.0.order(&other.0)
    }
}

impl PartialOrd for Placed {
    fn partial_cmp(&self, other: &Placed) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

/// A number of best hits that come after one given before.
#[derive(Debug)]
pub struct Best {
    most: usize,
    after: Option<Bm25Hit>,
    /// The worst on top.
    heap: BinaryHeap<Placed>,
}

impl Best {
    /// The best `most`, which is not 0, of those that come after `after`.
    pub fn new(most: usize, after: Option<Bm25Hit>) -> Best {
        Best { most, after, heap: BinaryHeap::new() }
    }

    /// The worst hit, if no more is needed without being better.
    #[inline]
    pub fn worst(&self) -> Option<&Bm25Hit> {
        if self.heap.len() < self.most { None } else { self.heap.peek().map(|placed| &placed.0) }
    }

    /// A score below this one is of no use.
    #[inline]
    pub fn least(&self) -> f64 {
        self.worst().map_or(f64::NEG_INFINITY, |worst| worst.score)
    }

    /// Takes a hit, if it is one of the best.
    pub fn offer(&mut self, hit: Bm25Hit) {
        if self.after.is_some_and(|after| hit.order(&after) != Ordering::Greater) {
            return;
        }
        if self.heap.len() < self.most {
            self.heap.push(Placed(hit));
        } else if let Some(mut worst) = self.heap.peek_mut()
            && hit.order(&worst.0) == Ordering::Less
        {
            *worst = Placed(hit);
        }
    }

    /// The hits, the worst first.
    pub fn into_hits(self) -> Vec<Bm25Hit> {
        let sorted = self.heap.into_sorted_vec();
        sorted.into_iter().rev().map(|placed| placed.0).collect()
    }
}
