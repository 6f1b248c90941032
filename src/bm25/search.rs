//! # search: which rows are the best, without scoring all?
//!
//! ```text
//! (query, index) → hits, best first
//! ```
//!
//! Block-max MaxScore. The documents of a segment are cut into windows at the ends of blocks, so
//! that each list has one block in a window, and a bound for it. If all bounds together are below
//! the worst of the best hits so far, the window is passed over, and no block of it is decoded.
//! If not, terms whose bounds together are below it can't make a document good enough: only
//! documents of the others are looked at (MaxScore; Turtle and Flood, "Query evaluation:
//! strategies and optimizations", 1995), and of these the terms left out are asked for one after
//! the other, as long as the document may still be good enough.
//!
//! A search does not know how many hits will be wanted. It finds some, and when they are used up
//! more, four times as many, that come after the last one given. The statistics stay those of the
//! first look, so scores and their order do too.

use super::best::{Best, Bm25Hit};
use super::cursor::{PostingCursor, SearchEffort};
use super::page::ReadResult;
use super::score::{Bm25Settings, Scorer, Statistics, Term};
use super::segment::{Lengths, RowReader, SegmentReader};
use super::snapshot::{Snapshot, SnapshotPart, settled};
use crate::error::{Error, ErrorKind, Result};
use crate::pages::Store;

/// Hits that are found first, if the caller does not say how many it expects.
const FIRST: usize = 16;
/// Hits that are found together, at most.
const MOST: usize = 1 << 20;
/// Windows between two looks whether the caller should stop.
const PATIENCE: u32 = 256;
/// More than sums in another order can differ by.
const ROUNDING: f64 = 1.0 + 1e-9;

/// A search under way. It gives all rows that have at least one of the terms, in descending
/// order of scores, and among equal scores in ascending order of rows; none twice.
#[derive(Debug)]
pub struct Bm25Search {
    query: Vec<Term>,
    settings: Bm25Settings,
    /// Hits to be found next.
    most: usize,
    /// The statistics of the first look, if the caller has given none.
    statistics: Option<Statistics>,
    /// Hits to be given, the worst first.
    hits: Vec<Bm25Hit>,
    last: Option<Bm25Hit>,
    is_complete: bool,
    effort: SearchEffort,
}

impl Bm25Search {
    /// Begins. `expected` is how many hits will probably be asked for, 0 if that is not known; more
    /// can always be had. Nothing is read before the first [`Bm25Search::next`].
    pub fn new(query: Vec<Term>, settings: Bm25Settings, expected: usize) -> Result<Bm25Search> {
        settings.validate()?;
        if let Some(term) = query.iter().find(|it| !(it.weight.is_finite() && it.weight >= 0.0)) {
            let message =
                format!("the weight of a term is {}, expected one from 0 on", term.weight);
            return Err(Error::invalid(message));
        }
        Ok(Bm25Search {
            query,
            settings,
            most: if expected == 0 { FIRST } else { expected.min(MOST) },
            statistics: None,
            hits: Vec::new(),
            last: None,
            is_complete: false,
            effort: SearchEffort::default(),
        })
    }

    /// The search with scores by `statistics`, those of another index, for all terms of the query.
    #[must_use]
    pub fn with_statistics(self, statistics: Statistics) -> Bm25Search {
        Bm25Search { statistics: Some(statistics), ..self }
    }

    /// The next best row; `None` after the last. Always called with the same index.
    pub fn next<S: Store>(&mut self, store: &S) -> Result<Option<Bm25Hit>> {
        if self.hits.is_empty() && !self.is_complete {
            self.find_more(store)?;
        }
        let hit = self.hits.pop();
        self.last = hit.or(self.last);
        Ok(hit)
    }

    /// The statistics that its scores depend on: those given, or those of its first look, which is done now
    /// if it was not. Always called with the same index.
    pub fn statistics<S: Store>(&mut self, store: &S) -> Result<&Statistics> {
        if self.statistics.is_none() {
            self.find_more(store)?;
        }
        let none = || Error::new(ErrorKind::Internal, "a search without statistics");
        self.statistics.as_ref().ok_or_else(none)
    }

    /// What the search has done so far.
    #[must_use]
    pub fn effort(&self) -> SearchEffort {
        self.effort
    }

    fn find_more<S: Store>(&mut self, store: &S) -> Result<()> {
        let (statistics, best) = settled(store, |meta, blocks| {
            self.effort.stages += 1;
            let snapshot = Snapshot::take(store, meta, blocks, &self.query)?;
            self.effort.pending += snapshot.pending;
            let statistics = self.statistics.as_ref().unwrap_or(&snapshot.statistics);
            let scorer = Scorer::new(statistics, self.settings, &self.query);
            let mut best = Best::new(self.most, self.last);
            find_pending(&snapshot, &scorer, &mut best);
            for part in &snapshot.parts {
                Hunt::new(store, part, &scorer, &mut best, &mut self.effort)?.run()?;
            }
            Ok((statistics.clone(), best))
        })?;
        self.statistics = Some(statistics);
        self.hits = best.into_hits();
        self.is_complete = self.hits.len() < self.most;
        self.most = (self.most * 4).min(MOST);
        Ok(())
    }
}

fn find_pending(snapshot: &Snapshot, scorer: &Scorer, best: &mut Best) {
    for found in &snapshot.matches {
        let terms = found.frequencies.iter().enumerate().filter(|(_, frequency)| **frequency > 0);
        let score = terms
            .fold(0.0, |sum, (term, frequency)| sum + scorer.part(term, *frequency, found.length));
        best.offer(Bm25Hit { row: found.row, score });
    }
}

/// A search in one segment.
struct Hunt<'a, S> {
    store: &'a S,
    segment: &'a SegmentReader,
    scorer: &'a Scorer,
    best: &'a mut Best,
    effort: &'a mut SearchEffort,
    /// A cursor for each term, in the order of the query, in which scores are summed.
    cursors: Vec<PostingCursor<'a>>,
    lengths: Lengths,
    rows: RowReader,
    /// The cursors, the one with the lowest bound in the window first.
    order: Vec<usize>,
    /// The sum of the bounds of the first so many of them.
    sums: Vec<f64>,
    /// The next document of each of the others.
    heads: Vec<u32>,
    /// What each cursor adds to the score of a document.
    parts: Vec<f64>,
}

impl<'a, S: Store> Hunt<'a, S> {
    fn new(
        store: &'a S,
        part: &'a SnapshotPart,
        scorer: &'a Scorer,
        best: &'a mut Best,
        effort: &'a mut SearchEffort,
    ) -> ReadResult<Hunt<'a, S>> {
        let segment = &part.segment;
        let mut cursors = Vec::new();
        for (term, listed) in part.lists.iter().enumerate() {
            if let Some(listed) = listed {
                cursors.push(PostingCursor::new(store, segment, term, listed, scorer, effort)?);
            }
        }
        Ok(Hunt {
            store,
            segment,
            scorer,
            best,
            effort,
            cursors,
            lengths: Lengths::default(),
            rows: RowReader::default(),
            order: Vec::new(),
            sums: Vec::new(),
            heads: Vec::new(),
            parts: Vec::new(),
        })
    }

    /// Goes from window to window.
    fn run(&mut self) -> ReadResult<()> {
        let (mut start, mut windows) = (0, 0);
        loop {
            for cursor in &mut self.cursors {
                cursor.approach(self.store, self.segment, start, self.scorer, self.effort)?;
            }
            self.cursors.retain(|cursor| !cursor.is_at_end());
            let Some(end) = self.cursors.iter().map(PostingCursor::last).min() else {
                return Ok(());
            };
            if self.is_of_use(start)? {
                self.look_into(start, end)?;
            }
            start = end + 1;
            windows += 1;
            if windows % PATIENCE == 0 {
                self.store.interrupted()?;
            }
        }
    }

    /// Whether the window that begins here may hold a document that is good enough.
    fn is_of_use(&mut self, start: u32) -> ReadResult<bool> {
        let Some(worst) = self.best.worst().copied() else { return Ok(true) };
        // In the order of the query, like scores: so rounding can't make it lower than one.
        let bound: f64 = self.cursors.iter().fold(0.0, |sum, cursor| sum + cursor.bound);
        // Documents are in the order of rows: with equal scores, later ones lose.
        Ok(bound > worst.score
            || bound == worst.score && self.rows.get(self.store, self.segment, start)? < worst.row)
    }

    fn look_into(&mut self, start: u32, end: u32) -> ReadResult<()> {
        self.order.clear();
        self.order.extend(0..self.cursors.len());
        let cursors = &self.cursors;
        self.order.sort_by(|a, b| cursors[*a].bound.total_cmp(&cursors[*b].bound));
        self.sums.clear();
        self.sums.push(0.0);
        let mut sum = 0.0;
        for cursor in &self.order {
            sum += cursors[*cursor].bound;
            self.sums.push(sum);
        }
        let least = self.best.least();
        let optional =
            self.sums.iter().rposition(|sum| *sum * ROUNDING < least).unwrap_or_default();
        self.heads.clear();
        for place in optional..self.order.len() {
            let head = self.seek(self.order[place], start)?;
            self.heads.push(head);
        }
        while let Some(document) = self.heads.iter().copied().min()
            && document <= end
        {
            let mut bound = self.sums[optional];
            for (cursor, head) in self.order[optional..].iter().zip(&self.heads) {
                if *head == document {
                    bound += self.cursors[*cursor].bound_here();
                }
            }
            if bound * ROUNDING >= self.best.least() {
                self.score(document, optional)?;
            }
            for place in 0..self.heads.len() {
                if self.heads[place] == document {
                    self.heads[place] = self.seek(self.order[optional + place], document + 1)?;
                }
            }
        }
        Ok(())
    }

    /// The first document of a cursor's block that is not before this one.
    #[inline]
    fn seek(&mut self, cursor: usize, document: u32) -> ReadResult<u32> {
        let cursor = &mut self.cursors[cursor];
        cursor.seek(self.store, self.segment, document, self.scorer, self.effort)
    }

    /// Scores a document, as far as it may be good enough. The first `optional` cursors may have
    /// it; the others have been sought for it.
    fn score(&mut self, document: u32, optional: usize) -> ReadResult<()> {
        let least = self.best.least();
        self.parts.clear();
        self.parts.resize(self.cursors.len(), 0.0);
        let length = self.lengths.get(self.store, self.segment, document)?;
        let mut sum = 0.0;
        for place in optional..self.order.len() {
            if self.heads[place - optional] == document {
                sum += self.part(self.order[place], document, length)?;
            }
        }
        for place in (0..optional).rev() {
            if (sum + self.sums[place + 1]) * ROUNDING < least {
                return Ok(());
            }
            sum += self.part(self.order[place], document, length)?;
        }
        self.effort.scored += 1;
        let score = self.parts.iter().fold(0.0, |sum, part| sum + part);
        if score >= self.best.least() {
            let row = self.rows.get(self.store, self.segment, document)?;
            self.best.offer(Bm25Hit { row, score });
        }
        Ok(())
    }

    /// What a cursor adds to the score of a document, which is noted and given.
    fn part(&mut self, index: usize, document: u32, length: u32) -> ReadResult<f64> {
        if self.seek(index, document)? != document {
            return Ok(0.0);
        }
        let cursor = &self.cursors[index];
        let part = self.scorer.part(cursor.term, cursor.frequency(), length);
        self.parts[index] = part;
        Ok(part)
    }
}
