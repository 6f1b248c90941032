//! # Which texts go through the model together?
//!
//! ```text
//! (texts that wait, token budget) → the next batch
//! ```
//!
//! A batch is a rectangle: every text in it is padded to the longest. So a batch is filled
//! while `longest * count` is within the budget, with texts of like length.
//!
//! * **Queries go first**, oldest first. A person waits behind each.
//! * **Bulk texts go by length.** Requests take turns; whose turn it is has its longest text
//!   in the batch, and the next shorter texts of *all* requests fill it up. Since they lie
//!   sorted, hardly anything is padding, and one huge request cannot keep a small one out.
//! * After [`MAX_QUERY_RUN`] batches of queries in a row one bulk batch goes, or a busy site
//!   would never finish loading.
//! * Whoever has gone is dropped before anything is computed for them.
//!
//! Nothing here knows of threads, sockets or time.

use std::collections::{BTreeMap, BTreeSet, HashMap, VecDeque};
use std::ops::Bound;

use super::protocol::Lane;

/// Batches of queries that may go one after the other while bulk texts wait.
pub const MAX_QUERY_RUN: usize = 32;

/// A text of this length is never too short to go with a longer one, because a run has a cost
/// of its own that is worth that many tokens.
const SMALL: usize = 16;

/// A text that waits.
#[derive(Debug)]
pub struct Entry<T> {
    /// The request it belongs to.
    pub owner: u64,
    /// Tokens, at least 1.
    pub length: usize,
    /// What the caller wants back.
    pub payload: T,
}

/// The texts that wait for one model.
#[derive(Debug)]
pub struct Queue<T> {
    /// The most padded tokens in a batch. A text that is longer goes alone.
    budget: usize,
    queries: VecDeque<Entry<T>>,
    bulk: BTreeMap<Rank, Entry<T>>,
    /// The bulk texts of each request.
    ranks: HashMap<u64, BTreeSet<Rank>>,
    /// The requests with bulk texts, in the order of their turns.
    turns: VecDeque<u64>,
    next_sequence: u64,
    query_run: usize,
}

/// Bulk texts sort by length, and those of one length by age, the oldest last, because
/// batches are taken from the end.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
struct Rank {
    length: usize,
    reverse_age: std::cmp::Reverse<u64>,
}

impl<T> Queue<T> {
    /// An empty queue whose batches have up to `budget` tokens, padding included.
    pub fn new(budget: usize) -> Self {
        Queue {
            budget,
            queries: VecDeque::new(),
            bulk: BTreeMap::new(),
            ranks: HashMap::new(),
            turns: VecDeque::new(),
            next_sequence: 0,
            query_run: 0,
        }
    }

    /// Texts that wait.
    pub fn len(&self) -> usize {
        self.queries.len() + self.bulk.len()
    }

    /// Whether nothing waits.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Puts a text in a lane.
    pub fn push(&mut self, lane: Lane, entry: Entry<T>) {
        match lane {
            Lane::Query => self.queries.push_back(entry),
            Lane::Bulk => self.push_bulk(entry),
        }
    }

    fn push_bulk(&mut self, entry: Entry<T>) {
        let reverse_age = std::cmp::Reverse(self.next_sequence);
        let rank = Rank { length: entry.length, reverse_age };
        self.next_sequence += 1;
        let owner = entry.owner;
        self.bulk.insert(rank, entry);
        let ranks = self.ranks.entry(owner).or_default();
        if ranks.is_empty() {
            self.turns.push_back(owner);
        }
        ranks.insert(rank);
    }

    /// Drops everything that belongs to a request.
    pub fn forget(&mut self, owner: u64) {
        self.queries.retain(|entry| entry.owner != owner);
        for rank in self.ranks.remove(&owner).unwrap_or_default() {
            self.bulk.remove(&rank);
        }
        self.turns.retain(|turn| *turn != owner);
    }

    /// Takes the next batch; it is empty only if nobody who is alive waits.
    ///
    /// `is_alive` is asked once a request and batch at most.
    pub fn next_batch(&mut self, is_alive: impl Fn(&T) -> bool) -> Vec<Entry<T>> {
        let mut alive = Alive { is_alive, known: HashMap::new() };
        let bulk_is_due = self.query_run >= MAX_QUERY_RUN && !self.bulk.is_empty();
        if !bulk_is_due {
            let batch = self.query_batch(&mut alive);
            if !batch.is_empty() {
                self.query_run += 1;
                return batch;
            }
        }
        self.query_run = 0;
        let batch = self.bulk_batch(&mut alive);
        if batch.is_empty() { self.query_batch(&mut alive) } else { batch }
    }

    /// The oldest query, and those behind it that fit. What doesn't fit keeps its place.
    fn query_batch<F: Fn(&T) -> bool>(&mut self, alive: &mut Alive<F>) -> Vec<Entry<T>> {
        let mut batch: Vec<Entry<T>> = Vec::new();
        let mut shape = Shape::default();
        let mut rest = VecDeque::with_capacity(self.queries.len());
        for entry in self.queries.drain(..) {
            if !alive.check(&entry) {
                continue;
            }
            if shape.admit(entry.length, self.budget) {
                batch.push(entry);
            } else {
                rest.push_back(entry);
            }
        }
        self.queries = rest;
        batch
    }

    /// The longest text of the request whose turn it is, and the next shorter ones of all.
    fn bulk_batch<F: Fn(&T) -> bool>(&mut self, alive: &mut Alive<F>) -> Vec<Entry<T>> {
        while let Some(owner) = self.turns.front().copied() {
            let Some(longest) = self.ranks.get(&owner).and_then(|ranks| ranks.last()).copied()
            else {
                self.turns.pop_front();
                continue;
            };
            if !self.bulk.get(&longest).is_some_and(|entry| alive.check(entry)) {
                self.forget(owner);
                continue;
            }
            self.turns.rotate_left(1);
            let ranks = self.ranks_from(longest, alive);
            return ranks.into_iter().filter_map(|rank| self.take(rank)).collect();
        }
        Vec::new()
    }

    /// Which texts go with the one at `longest`, itself included. Forgets the requests it
    /// finds gone.
    fn ranks_from<F: Fn(&T) -> bool>(&mut self, longest: Rank, alive: &mut Alive<F>) -> Vec<Rank> {
        let mut shape = Shape::default();
        let (mut ranks, mut gone) = (Vec::new(), BTreeSet::new());
        let candidates = self.bulk.range((Bound::Unbounded, Bound::Included(longest))).rev();
        for (rank, entry) in candidates {
            if !alive.check(entry) {
                gone.insert(entry.owner);
            } else if shape.admit(rank.length, self.budget) {
                ranks.push(*rank);
            } else {
                break;
            }
        }
        gone.into_iter().for_each(|owner| self.forget(owner));
        ranks
    }

    fn take(&mut self, rank: Rank) -> Option<Entry<T>> {
        let entry = self.bulk.remove(&rank)?;
        if let Some(ranks) = self.ranks.get_mut(&entry.owner) {
            ranks.remove(&rank);
            if ranks.is_empty() {
                self.ranks.remove(&entry.owner);
                self.turns.retain(|turn| *turn != entry.owner);
            }
        }
        Some(entry)
    }
}

/// The rectangle of tokens that a batch is.
#[derive(Default)]
struct Shape {
    longest: usize,
    count: usize,
}

impl Shape {
    /// Takes a text of `length` tokens in if the batch stays within the budget and the text is
    /// enough like the others that little of the rectangle is padding.
    fn admit(&mut self, length: usize, budget: usize) -> bool {
        let longest = self.longest.max(length);
        let fits = longest * (self.count + 1) <= budget && self.is_like(length);
        if fits || self.count == 0 {
            self.longest = longest;
            self.count += 1;
            return true;
        }
        false
    }

    /// Up to a quarter of padding is cheaper than another run; more is not.
    fn is_like(&self, length: usize) -> bool {
        let (short, long) = (length.min(self.longest), length.max(self.longest));
        short * 4 >= long * 3 || long - short <= SMALL
    }
}

/// Remembers for one batch who is alive.
struct Alive<F> {
    is_alive: F,
    known: HashMap<u64, bool>,
}

impl<F> Alive<F> {
    fn check<T>(&mut self, entry: &Entry<T>) -> bool
    where
        F: Fn(&T) -> bool,
    {
        *self.known.entry(entry.owner).or_insert_with(|| (self.is_alive)(&entry.payload))
    }
}

#[cfg(test)]
#[path = "queue_tests.rs"]
mod tests;
