//! # Which texts go through the model together?
//!
//! ```text
//! (texts that wait, token budget) → the next batch
//! ```
//!
//! A batch is a rectangle: every text in it is padded to the longest. So a batch is filled
//! while `longest * count` is within the budget, with texts of like length.
//!
//! * **Lanes**: a user's query goes before fresh texts, such as those of a row that has just
//!   changed, and these before bulk. A lower lane that waits has a batch after those above it have
//!   had as much as [`PATIENCE_OF_FRESH`] or [`PATIENCE_OF_BULK`] full ones, or a busy site would
//!   never finish loading.
//! * **Roles share a lane**, so that one role's many or long texts do not keep another's out: what
//!   each role has had is counted in tokens.
//! * **Queries go in their order** ([`line`]), and other texts by length ([`sorted`]), requests taking
//!   turns.
//! * **There may be a second run of the model**, beside the one of [`Queue::next_batch`]:
//!   [`Queue::next_short_batch`] has short queries for it, [`Queue::next_bulk_batch`] what no user
//!   waits for.
//! * The texts of a client that has gone are dropped before anything is computed for them.
//!
//! Nothing here knows of threads, sockets or time.

mod line;
mod sorted;

use std::collections::HashMap;

use self::line::LaneQueue;
use self::sorted::Sorted;
use crate::protocol::Lane;

/// Full batches of higher lanes that go while the lane of fresh texts waits.
pub const PATIENCE_OF_FRESH: usize = 1;

/// Full batches of higher lanes that go while the lane of bulk waits.
pub const PATIENCE_OF_BULK: usize = 4;

/// Padded tokens of a batch of short queries, and so of the longest of them.
pub const SHORT: usize = 128;

/// A batch counts as so much of a full one at least: a run has a cost of its own.
const LEAST_OF_A_BATCH: usize = 8;

/// A text of this length is never too short to go with a longer one, because a run has a cost
/// of its own that is worth that many tokens.
const SMALL: usize = 16;

/// A text that waits.
#[derive(Debug)]
pub struct QueueEntry<T> {
    /// The request it belongs to.
    pub owner: u64,
    /// The role on whose behalf the request is made; the same for all texts of a request.
    pub role: u32,
    /// Tokens, at least 1.
    pub length: usize,
    /// What the caller wants back.
    pub payload: T,
}

/// Texts that go through the model together, none if no client waits any more.
#[derive(Debug)]
pub struct TextBatch<T> {
    /// The texts of the batch.
    pub entries: Vec<QueueEntry<T>>,
    lane: Lane,
}

impl<T> TextBatch<T> {
    /// Whether no user waits for it.
    pub fn is_bulk(&self) -> bool {
        self.lane == Lane::Bulk
    }

    /// Whether it is over soon, and what waits for it are others of its kind.
    pub fn is_of_short_queries(&self) -> bool {
        self.lane == Lane::Query && self.entries.iter().all(|entry| entry.length <= SHORT)
    }

    /// Tokens of all texts, padding included.
    fn tokens(&self) -> usize {
        self.entries.iter().map(|entry| entry.length).max().unwrap_or_default() * self.entries.len()
    }
}

/// The texts that wait for one model.
#[derive(Debug)]
pub struct Queue<T> {
    /// The most padded tokens in a batch. A text that is longer goes alone.
    budget: usize,
    queries: LaneQueue<T>,
    fresh: Sorted<T>,
    bulk: Sorted<T>,
    passed: Passed,
}

/// Tokens that went by since the last batch of a lane, while it waited.
#[derive(Clone, Copy, Debug, Default)]
struct Passed {
    fresh: usize,
    bulk: usize,
}

impl<T> Queue<T> {
    /// An empty queue whose batches have up to `budget` tokens, padding included.
    pub fn new(budget: usize) -> Self {
        Queue {
            budget,
            queries: LaneQueue::default(),
            fresh: Sorted::default(),
            bulk: Sorted::default(),
            passed: Passed::default(),
        }
    }

    /// The number of texts that wait.
    pub fn len(&self) -> usize {
        self.queries.len() + self.fresh.len() + self.bulk.len()
    }

    /// Whether no text waits.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Puts a text in a lane.
    pub fn push(&mut self, lane: Lane, entry: QueueEntry<T>) {
        match lane {
            Lane::Query => self.queries.push(entry),
            Lane::Fresh => self.fresh.push(entry),
            Lane::Bulk => self.bulk.push(entry),
        }
    }

    /// Drops everything that belongs to a request.
    pub fn forget(&mut self, owner: u64) {
        self.queries.forget(owner);
        self.fresh.forget(owner);
        self.bulk.forget(owner);
    }

    /// Takes the next batch, of bulk only if it `takes_bulk`; it is empty only if no client that is
    /// alive waits.
    ///
    /// `is_alive` is asked once a request and batch at most.
    pub fn next_batch(&mut self, takes_bulk: bool, is_alive: impl Fn(&T) -> bool) -> TextBatch<T> {
        let mut alive = Alive { is_alive, known: HashMap::new() };
        let lanes = self.due().into_iter().chain([Lane::Query, Lane::Fresh, Lane::Bulk]);
        let mut order = lanes.filter(|lane| takes_bulk || *lane != Lane::Bulk);
        let found = order.find_map(|lane| {
            let entries = match lane {
                Lane::Query => self.queries.batch(usize::MAX, self.budget, &mut alive),
                Lane::Fresh => self.fresh.batch(self.budget, &mut alive),
                Lane::Bulk => self.bulk.batch(self.budget, &mut alive),
            };
            (!entries.is_empty()).then_some((lane, entries))
        });
        let (lane, entries) = found.unwrap_or((Lane::Bulk, Vec::new()));
        let batch = TextBatch { entries, lane };
        if !batch.entries.is_empty() {
            self.pass(lane, batch.tokens());
        }
        batch
    }

    /// Whether there may be something in [`Queue::next_batch`].
    pub fn has_some(&self, takes_bulk: bool) -> bool {
        self.queries.len() + self.fresh.len() > 0 || takes_bulk && self.has_bulk()
    }

    /// Takes the next batch of bulk, of up to `budget` padded tokens; it is empty if none waits.
    pub fn next_bulk_batch(
        &mut self,
        budget: usize,
        is_alive: impl Fn(&T) -> bool,
    ) -> TextBatch<T> {
        let mut alive = Alive { is_alive, known: HashMap::new() };
        let entries = self.bulk.batch(budget, &mut alive);
        self.passed.bulk = 0;
        TextBatch { entries, lane: Lane::Bulk }
    }

    /// Whether texts of the bulk lane wait.
    pub fn has_bulk(&self) -> bool {
        !self.bulk.is_empty()
    }

    /// Takes the next batch of short queries; it is empty if none waits. No other lane goes without
    /// anything for it.
    pub fn next_short_batch(&mut self, is_alive: impl Fn(&T) -> bool) -> TextBatch<T> {
        let mut alive = Alive { is_alive, known: HashMap::new() };
        let entries = self.queries.batch(SHORT, SHORT.min(self.budget), &mut alive);
        TextBatch { entries, lane: Lane::Query }
    }

    /// Whether a query waits that is short.
    pub fn has_short(&self) -> bool {
        self.queries.has_short(SHORT)
    }

    /// The lane that has waited for so long that it goes before the others.
    fn due(&self) -> Option<Lane> {
        if self.passed.bulk >= PATIENCE_OF_BULK * self.budget {
            Some(Lane::Bulk)
        } else if self.passed.fresh >= PATIENCE_OF_FRESH * self.budget {
            Some(Lane::Fresh)
        } else {
            None
        }
    }

    /// Notes that `lane` has had a batch of so many tokens. One that is empty does not wait.
    fn pass(&mut self, lane: Lane, tokens: usize) {
        let tokens = tokens.max(self.budget / LEAST_OF_A_BATCH);
        let after = |passed: usize, had: bool, waits: bool| match waits && !had {
            true => passed + tokens,
            false => 0,
        };
        self.passed.bulk = after(self.passed.bulk, lane == Lane::Bulk, !self.bulk.is_empty());
        // What bulk has had is its due, and not at the expense of the lane above it.
        if lane != Lane::Bulk {
            self.passed.fresh =
                after(self.passed.fresh, lane == Lane::Fresh, !self.fresh.is_empty());
        }
    }
}

/// The rectangle of tokens that a batch is.
#[derive(Clone, Copy, Default)]
struct BatchShape {
    longest: usize,
    count: usize,
}

impl BatchShape {
    /// The batch's shape with one more text of `length` tokens, if the batch stays within the
    /// budget and the text is enough like the others that little of the rectangle is padding.
    fn with(self, length: usize, budget: usize) -> Option<BatchShape> {
        let longest = self.longest.max(length);
        let fits = longest * (self.count + 1) <= budget && self.is_like(length);
        (fits || self.count == 0).then_some(BatchShape { longest, count: self.count + 1 })
    }

    /// Up to a quarter of padding is cheaper than another run; more is not.
    fn is_like(&self, length: usize) -> bool {
        let (short, long) = (length.min(self.longest), length.max(self.longest));
        short * 4 >= long * 3 || long - short <= SMALL
    }
}

/// Remembers for one batch which clients are alive.
struct Alive<F> {
    is_alive: F,
    known: HashMap<u64, bool>,
}

impl<F> Alive<F> {
    fn check<T>(&mut self, entry: &QueueEntry<T>) -> bool
    where
        F: Fn(&T) -> bool,
    {
        *self.known.entry(entry.owner).or_insert_with(|| (self.is_alive)(&entry.payload))
    }
}

#[cfg(test)]
#[path = "queue_tests.rs"]
mod tests;
