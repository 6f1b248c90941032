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
//! A scan that goes on may find a row too late, when farther ones have been given. In strict order it is
//! left out; else it is given then.

use std::cmp::{Ordering, Reverse};
use std::collections::BinaryHeap;

use super::page::RowId;
use super::scan::{Nearness, Scan};
use crate::error::Result;
use crate::pages::Store;

/// A row and its value.
#[derive(Clone, Copy, Debug)]
struct MeasuredRow {
    nearness: Nearness,
    row: RowId,
}

impl MeasuredRow {
    /// Values ascend; NaN comes behind them, and NULL last.
    fn rank(&self) -> (u8, f64) {
        rank(self.nearness)
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

impl PartialEq for MeasuredRow {
    fn eq(&self, other: &Self) -> bool {
        self.cmp(other) == Ordering::Equal
    }
}

impl Eq for MeasuredRow {}

impl PartialOrd for MeasuredRow {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

impl Ord for MeasuredRow {
    fn cmp(&self, other: &Self) -> Ordering {
        compare(self.rank(), other.rank()).then(self.row.cmp(&other.row))
    }
}

/// Puts the rows of a scan into the order of the operator's values.
#[derive(Debug)]
pub struct ExactOrder {
    is_strict: bool,
    /// Rows whose values are known, and that are not given yet.
    measured: BinaryHeap<Reverse<MeasuredRow>>,
    /// The next row of the scan, by its bound.
    next: Option<(Nearness, RowId)>,
    /// The last row that was given.
    last: Option<(u8, f64)>,
    is_over: bool,
}

impl ExactOrder {
    /// The order of a scan that has not begun. `is_strict`: rows that come too late are left out.
    #[must_use]
    pub fn new(is_strict: bool) -> ExactOrder {
        ExactOrder {
            is_strict,
            measured: BinaryHeap::new(),
            next: None,
            last: None,
            is_over: false,
        }
    }

    /// The next row of `scan` with the operator's value; `None` after the last. `measure` gives the value
    /// of a row, or nothing where no version of it is visible.
    pub fn next<S: Store>(
        &mut self,
        store: &S,
        scan: &mut Scan,
        mut measure: impl FnMut(RowId) -> Result<Option<Nearness>>,
    ) -> Result<Option<(Nearness, RowId)>> {
        loop {
            if let Some(found) = self.settled(scan.is_estimate()) {
                let is_late = self.last.is_some_and(|last| compare(found.rank(), last).is_lt());
                if is_late && self.is_strict {
                    continue;
                }
                self.last = Some(found.rank());
                return Ok(Some((found.nearness, found.row)));
            }
            if self.is_over {
                return Ok(None);
            }
            if scan.is_estimate() {
                let rows = scan.batch(store)?;
                self.is_over = rows.is_empty();
                for row in rows {
                    self.measure(scan, row, &mut measure)?;
                }
            } else {
                if let Some(row) = self.next.take() {
                    self.measure(scan, row, &mut measure)?;
                }
                self.next = scan.next(store)?;
                self.is_over = self.next.is_none();
            }
        }
    }

    /// Measures a row that the scan gave, and tells it whether that is kept.
    fn measure(
        &mut self,
        scan: &mut Scan,
        (nearness, row): (Nearness, RowId),
        measure: &mut impl FnMut(RowId) -> Result<Option<Nearness>>,
    ) -> Result<()> {
        let value = match nearness {
            Nearness::Bound(_) => measure(row)?,
            other => Some(other),
        };
        self.measured.extend(value.map(|nearness| Reverse(MeasuredRow { nearness, row })));
        scan.count_row(value.is_some());
        Ok(())
    }

    /// The nearest measured row, if no row that is still to come can be nearer.
    fn settled(&mut self, is_estimate: bool) -> Option<MeasuredRow> {
        let Reverse(nearest) = self.measured.peek()?;
        let is_settled = is_estimate
            || self.is_over
            || self.next.is_some_and(|(bound, _)| compare(nearest.rank(), rank(bound)).is_le());
        match is_settled {
            true => self.measured.pop().map(|Reverse(nearest)| nearest),
            false => None,
        }
    }
}
