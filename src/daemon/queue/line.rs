//! Queries: the one that came first goes first, and roles take turns, and so do the requests of a
//! role.

use std::collections::{HashSet, VecDeque};

use super::{Alive, BatchShape, QueueEntry};
use crate::scheduling::fair_queueing::Shares;

/// Tokens that a role may have at once after it has had none for a while: those of some questions and
/// answers.
const CREDIT: u64 = 1024;

/// Texts in the order in which they came.
#[derive(Debug)]
pub struct LaneQueue<T> {
    entries: VecDeque<QueueEntry<T>>,
    shares: Shares<u32>,
}

impl<T> Default for LaneQueue<T> {
    fn default() -> Self {
        LaneQueue { entries: VecDeque::new(), shares: Shares::with_credit(CREDIT) }
    }
}

impl<T> LaneQueue<T> {
    pub fn len(&self) -> usize {
        self.entries.len()
    }

    pub fn push(&mut self, entry: QueueEntry<T>) {
        self.entries.push_back(entry);
    }

    /// Whether there is a query of no more than `longest` tokens.
    pub fn has_short(&self, longest: usize) -> bool {
        self.entries.iter().any(|entry| entry.length <= longest)
    }

    pub fn forget(&mut self, owner: u64) {
        self.entries.retain(|entry| entry.owner != owner);
    }

    /// The first query of the role whose turn it is, and others that fit, role after role; of those with
    /// no more than `longest` tokens.
    pub fn batch<F: Fn(&T) -> bool>(
        &mut self,
        longest: usize,
        budget: usize,
        alive: &mut Alive<F>,
    ) -> Vec<QueueEntry<T>> {
        self.entries.retain(|entry| alive.check(entry));
        let (mut batch, mut shape) = (Vec::new(), BatchShape::default());
        while let Some((place, larger)) = self.next(shape, longest, budget) {
            let Some(entry) = self.entries.remove(place) else { break };
            self.shares.charge(entry.role, entry.length as u64);
            shape = larger;
            batch.push(entry);
        }
        self.move_back(&batch);
        batch
    }

    /// Requests that have had something go behind those that wait.
    fn move_back(&mut self, batch: &[QueueEntry<T>]) {
        let served: HashSet<u64> = batch.iter().map(|entry| entry.owner).collect();
        let is_served = |entry: &QueueEntry<T>| served.contains(&entry.owner);
        if !self.entries.iter().any(is_served) {
            return;
        }
        let (had, others): (VecDeque<_>, VecDeque<_>) = self.entries.drain(..).partition(is_served);
        self.entries = others;
        self.entries.extend(had);
    }

    /// Where the query is that goes next into a batch of this shape, and the shape with it.
    fn next(
        &mut self,
        shape: BatchShape,
        longest: usize,
        budget: usize,
    ) -> Option<(usize, BatchShape)> {
        let mut seen = HashSet::new();
        let short = self.entries.iter().enumerate().filter(|(_, entry)| entry.length <= longest);
        let fitting = short.filter_map(|(place, entry)| {
            let larger = shape.with(entry.length, budget)?;
            seen.insert(entry.role).then_some((entry.role, place, larger))
        });
        let first: Vec<(u32, usize, BatchShape)> = fitting.collect();
        let role = self.shares.next(first.iter().map(|(role, ..)| *role))?;
        first.into_iter().find(|(it, ..)| *it == role).map(|(_, place, larger)| (place, larger))
    }
}
