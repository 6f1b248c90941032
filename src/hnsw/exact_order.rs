//! # exact_order: which row is next by the operator's own value?
//!
//! ```text
//! (rows by their bounds, the operator's value of a row) → rows in the order of these values
//! ```
//!
//! An index that holds vectors in a compact form knows of a row that the operator's value is not below a
//! bound. So a row can be given once no row that is still to come has a lower bound than its value.
//! Where the index knows estimates only (storage 'binary'), there is no such bound: the rows of one
//! stage of a scan are measured and given in order.
//!
//! With residual codes there is an upper bound as well. A row whose upper bound is not above the lower bounds of all others is
//! given without being measured.
//!
//! A scan that goes on may find a row too late, when farther ones have been given. In strict order it is
//! left out; else it is given then.

use std::cmp::{Ordering, Reverse};
use std::collections::BinaryHeap;

use super::page::RowId;
use super::scan::{Nearness, Scan, ScannedRow};
use crate::error::Result;
use crate::pages::Store;

/// Rows that are held before one is measured and not another read, where both may tell which is next. Bounds are so wide
/// only where distances are small beside the lengths of the vectors.
const MOST_HELD: usize = 64;

/// A row that waits for its turn.
#[derive(Clone, Copy, Debug)]
struct HeldRow {
    /// The operator's value, or a bound below it.
    nearness: Nearness,
    /// A bound above it; `None` where the value itself is known.
    upper: Option<f64>,
    row: RowId,
}

impl HeldRow {
    /// Values ascend; NaN comes behind them, and NULL last.
    fn rank(&self) -> (u8, f64) {
        rank(self.nearness)
    }

    /// The rank that it has at most.
    fn highest_rank(&self) -> (u8, f64) {
        self.upper.map_or(self.rank(), |upper| (0, upper))
    }
}

fn rank(nearness: Nearness) -> (u8, f64) {
    match nearness {
        Nearness::Bound(value) if !value.is_nan() => (0, value),
        Nearness::Bound(_) | Nearness::Undirected => (1, 0.0),
        Nearness::Null => (2, 0.0),
    }
}

fn compare(a: (u8, f64), b: (u8, f64)) -> Ordering {
    a.0.cmp(&b.0).then(a.1.partial_cmp(&b.1).unwrap_or(Ordering::Equal))
}

impl PartialEq for HeldRow {
    fn eq(&self, other: &Self) -> bool {
        self.cmp(other) == Ordering::Equal
    }
}

impl Eq for HeldRow {}

impl PartialOrd for HeldRow {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

impl Ord for HeldRow {
    fn cmp(&self, other: &Self) -> Ordering {
        compare(self.rank(), other.rank()).then(self.row.cmp(&other.row))
    }
}

/// What is to be done to find out which row is next.
enum OrderStep {
    /// Give this row.
    Give(HeldRow),
    /// Measure this row: by its bounds it may stand before another or behind it.
    Measure(HeldRow),
    /// Read on: a row that is still to come may be nearer.
    Read,
    End,
}

/// Puts the rows of a scan into the order of the operator's values.
#[derive(Debug)]
pub struct ExactOrder {
    is_strict: bool,
    /// Rows that are not given yet.
    held: BinaryHeap<Reverse<HeldRow>>,
    /// The next row of the scan, by its bound.
    next: Option<ScannedRow>,
    /// The highest rank of the last row that was given.
    last: Option<(u8, f64)>,
    is_over: bool,
}

impl ExactOrder {
    /// The order of a scan that has not begun. `is_strict`: rows that come too late are left out.
    #[must_use]
    pub fn new(is_strict: bool) -> ExactOrder {
        ExactOrder { is_strict, held: BinaryHeap::new(), next: None, last: None, is_over: false }
    }

    /// The next row of `scan`, with the operator's value or a bound below it; `None` after the last. `measure` gives the
    /// value of a row, or nothing where no version of it is visible.
    pub fn next<S: Store>(
        &mut self,
        store: &S,
        scan: &mut Scan,
        mut measure: impl FnMut(RowId) -> Result<Option<Nearness>>,
    ) -> Result<Option<(Nearness, RowId)>> {
        loop {
            match self.step(scan.is_estimate()) {
                OrderStep::Give(found) => {
                    let is_late = self.last.is_some_and(|last| compare(found.rank(), last).is_lt());
                    match (is_late && self.is_strict, found.upper) {
                        (true, None) => continue,
                        // It may be late.
                        (true, Some(_)) => self.measure(scan, found.row, &mut measure)?,
                        (false, upper) => {
                            // Also where the row turns out not to be visible: what comes too late for it is rare.
                            self.last = Some(found.highest_rank());
                            if upper.is_some() {
                                scan.count_row(true);
                            }
                            return Ok(Some((found.nearness, found.row)));
                        }
                    }
                }
                OrderStep::Measure(found) => self.measure(scan, found.row, &mut measure)?,
                OrderStep::Read => self.read(store, scan, &mut measure)?,
                OrderStep::End => return Ok(None),
            }
        }
    }

    fn step(&mut self, is_estimate: bool) -> OrderStep {
        let Some(Reverse(first)) = self.held.peek().copied() else {
            return if self.is_over { OrderStep::End } else { OrderStep::Read };
        };
        // Of estimates, all rows that may stand in between are held.
        let is_last = is_estimate || self.is_over;
        let is_before_next = |it: (u8, f64)| {
            is_last || self.next.is_some_and(|next| compare(it, rank(next.nearness)).is_le())
        };
        if !is_before_next(first.rank())
            || !is_before_next(first.highest_rank()) && self.held.len() < MOST_HELD
        {
            return OrderStep::Read;
        }
        self.held.pop();
        if !is_before_next(first.highest_rank()) {
            return OrderStep::Measure(first);
        }
        let is_before = |second: &Reverse<HeldRow>| {
            first.upper.is_none() || compare(first.highest_rank(), second.0.rank()).is_le()
        };
        match self.held.peek().is_none_or(is_before) {
            true => OrderStep::Give(first),
            false => OrderStep::Measure(first),
        }
    }

    fn read<S: Store>(
        &mut self,
        store: &S,
        scan: &mut Scan,
        measure: &mut impl FnMut(RowId) -> Result<Option<Nearness>>,
    ) -> Result<()> {
        if scan.is_estimate() {
            let rows = scan.batch(store)?;
            self.is_over = rows.is_empty();
            return rows.into_iter().try_for_each(|found| self.hold(store, scan, found, measure));
        }
        if let Some(found) = self.next.take() {
            self.hold(store, scan, found, measure)?;
        }
        self.next = scan.next(store)?;
        self.is_over = self.next.is_none();
        Ok(())
    }

    /// Holds a row that the scan gave, by its bounds if both are known.
    fn hold<S: Store>(
        &mut self,
        store: &S,
        scan: &mut Scan,
        found: ScannedRow,
        measure: &mut impl FnMut(RowId) -> Result<Option<Nearness>>,
    ) -> Result<()> {
        let ScannedRow { nearness, row, .. } = found;
        let Nearness::Bound(bound) = nearness else {
            scan.count_row(true);
            self.held.push(Reverse(HeldRow { nearness, upper: None, row }));
            return Ok(());
        };
        match scan.bounds(store, &found)? {
            None => self.measure(scan, row, measure),
            Some(bounds) => {
                let nearness = Nearness::Bound(bounds.lower.max(bound));
                self.held.push(Reverse(HeldRow { nearness, upper: Some(bounds.upper), row }));
                Ok(())
            }
        }
    }

    /// Holds a row by the operator's value, and tells the scan whether the row is kept.
    fn measure(
        &mut self,
        scan: &mut Scan,
        row: RowId,
        measure: &mut impl FnMut(RowId) -> Result<Option<Nearness>>,
    ) -> Result<()> {
        let value = measure(row)?;
        let measured = |nearness| Reverse(HeldRow { nearness, upper: None, row });
        self.held.extend(value.map(measured));
        scan.count_row(value.is_some());
        Ok(())
    }
}
