//! Texts that are not waited for one by one: they go by length.
//!
//! The request whose turn it is has its longest text in the batch, and the next shorter texts of *all*
//! requests fill it up. Since they lie sorted, hardly anything is padding. Roles take turns, and within a
//! role requests do, so that one huge request cannot keep a small one out.

use std::cmp::Reverse;
use std::collections::{BTreeMap, BTreeSet, HashMap, VecDeque};
use std::ops::Bound;

use super::{Alive, BatchShape, QueueEntry};
use crate::scheduling::fair_queueing::Shares;

/// Texts by their length.
#[derive(Debug)]
pub struct Sorted<T> {
    entries: BTreeMap<Rank, QueueEntry<T>>,
    requests: HashMap<u64, WaitingRequest>,
    /// The requests, in the order of their turns.
    turns: VecDeque<u64>,
    shares: Shares<u32>,
    next_sequence: u64,
}

/// Texts sort by length, and those of one length by age, the oldest last, because batches are
/// taken from the end.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
struct Rank {
    length: usize,
    reverse_age: Reverse<u64>,
}

/// A request with texts that wait.
#[derive(Debug)]
struct WaitingRequest {
    role: u32,
    ranks: BTreeSet<Rank>,
}

impl<T> Default for Sorted<T> {
    fn default() -> Self {
        Sorted {
            entries: BTreeMap::new(),
            requests: HashMap::new(),
            turns: VecDeque::new(),
            shares: Shares::default(),
            next_sequence: 0,
        }
    }
}

impl<T> Sorted<T> {
    pub fn len(&self) -> usize {
        self.entries.len()
    }

    pub fn is_empty(&self) -> bool {
        self.entries.is_empty()
    }

    pub fn push(&mut self, entry: QueueEntry<T>) {
        let reverse_age = Reverse(self.next_sequence);
        self.next_sequence += 1;
        let rank = Rank { length: entry.length, reverse_age };
        let (owner, role) = (entry.owner, entry.role);
        self.entries.insert(rank, entry);
        let turns = &mut self.turns;
        let request = self.requests.entry(owner).or_insert_with(|| {
            turns.push_back(owner);
            WaitingRequest { role, ranks: BTreeSet::new() }
        });
        request.ranks.insert(rank);
    }

    pub fn forget(&mut self, owner: u64) {
        let Some(request) = self.requests.remove(&owner) else { return };
        for rank in request.ranks {
            self.entries.remove(&rank);
        }
        self.turns.retain(|turn| *turn != owner);
    }

    /// The longest text of the request whose turn it is, and the next shorter ones of all.
    pub fn batch<F: Fn(&T) -> bool>(
        &mut self,
        budget: usize,
        alive: &mut Alive<F>,
    ) -> Vec<QueueEntry<T>> {
        while let Some((owner, longest)) = self.turn() {
            if !self.entries.get(&longest).is_some_and(|entry| alive.check(entry)) {
                self.forget(owner);
                continue;
            }
            self.turns.retain(|turn| *turn != owner);
            self.turns.push_back(owner);
            let ranks = self.ranks_from(longest, budget, alive);
            return ranks.into_iter().filter_map(|rank| self.take(rank)).collect();
        }
        Vec::new()
    }

    /// The request whose turn it is, and its longest text.
    fn turn(&mut self) -> Option<(u64, Rank)> {
        let requests = &self.requests;
        let role_of = |owner: &u64| requests.get(owner).map(|request| request.role);
        let role = self.shares.next(self.turns.iter().filter_map(role_of))?;
        let owner = self.turns.iter().find(|owner| role_of(owner) == Some(role)).copied()?;
        let longest = requests.get(&owner)?.ranks.last().copied()?;
        Some((owner, longest))
    }

    /// Which texts go with the one at `longest`, itself included. Forgets the requests it
    /// finds gone.
    fn ranks_from<F: Fn(&T) -> bool>(
        &mut self,
        longest: Rank,
        budget: usize,
        alive: &mut Alive<F>,
    ) -> Vec<Rank> {
        let mut shape = BatchShape::default();
        let (mut ranks, mut gone) = (Vec::new(), BTreeSet::new());
        let candidates = self.entries.range((Bound::Unbounded, Bound::Included(longest))).rev();
        for (rank, entry) in candidates {
            if !alive.check(entry) {
                gone.insert(entry.owner);
                continue;
            }
            match shape.with(rank.length, budget) {
                Some(larger) => shape = larger,
                None => break,
            }
            ranks.push(*rank);
        }
        gone.into_iter().for_each(|owner| self.forget(owner));
        ranks
    }

    fn take(&mut self, rank: Rank) -> Option<QueueEntry<T>> {
        let entry = self.entries.remove(&rank)?;
        self.shares.charge(entry.role, entry.length as u64);
        let is_last = self.requests.get_mut(&entry.owner).is_some_and(|request| {
            request.ranks.remove(&rank);
            request.ranks.is_empty()
        });
        if is_last {
            self.forget(entry.owner);
        }
        Some(entry)
    }
}
