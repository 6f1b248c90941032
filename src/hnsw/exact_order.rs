//! # exact_order: which row is next by the operator's own value?
//!
//! ```text
//! (rows by their bounds, the operator's value of a row) → rows in the order of these values
//! ```
//!
//! An index that holds vectors in a compact form knows of a row between which bounds the operator's value lies. What
//! is known of a row grows, as far as the order of the next row needs it: the bound by which a walk found it; the bounds
//! by all that the index holds (`bounds`); and the value itself, from the table. So a row is given once its value is not
//! above any bound of those that are still to come, and most rows are never read for their order.
//!
//! Where the index knows estimates only (storage 'binary'), there are no such bounds: the rows of one
//! stage of a scan are measured and given in order.
//!
//! A scan that goes on may find a row too late, when farther ones have been given. In strict order it is
//! left out; else it is given then.

use std::cmp::{Ordering, Reverse};
use std::collections::BinaryHeap;

use super::page::RowId;
use super::scan::Scan;
use super::scan_query::{NearRow, Nearness};
use crate::error::Result;
use crate::pages::Store;

/// The rows themselves.
pub trait TableRows {
    /// Whether the query wants a row whose value is not needed. What can't be told without reading it is left to the
    /// caller, who reads it anyway.
    fn is_wanted(&mut self, row: RowId) -> Result<bool>;

    /// The operator's value for a row; `None` where no version of it is visible, or the query does not want it.
    fn value(&mut self, row: RowId) -> Result<Option<Nearness>>;
}

/// Where a value stands in the order: values ascend; NaN comes behind them, and NULL last.
#[derive(Clone, Copy, Debug)]
struct OrderRank(u8, f64);

impl OrderRank {
    fn of(nearness: Nearness) -> OrderRank {
        match nearness {
            Nearness::Bound(value) if !value.is_nan() => OrderRank(0, value),
            Nearness::Bound(_) | Nearness::Undirected => OrderRank(1, 0.0),
            Nearness::Null => OrderRank(2, 0.0),
        }
    }

    fn cmp(self, other: OrderRank) -> Ordering {
        self.0.cmp(&other.0).then(self.1.partial_cmp(&other.1).unwrap_or(Ordering::Equal))
    }

    fn is_below(self, other: OrderRank) -> bool {
        self.cmp(other).is_lt()
    }
}

/// What is known of a row.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Precision {
    /// The bound by which it was found.
    Walked,
    /// The bounds by all that the index holds.
    Fine,
    /// The operator's value.
    Measured,
}

/// A row that is not given yet.
#[derive(Clone, Copy, Debug)]
struct PendingRow {
    found: NearRow,
    precision: Precision,
    lowest: OrderRank,
    highest: OrderRank,
}

impl PendingRow {
    /// A row as a scan gives it. Without a vector that has a distance, all is known of it.
    fn new(found: NearRow) -> PendingRow {
        let lowest = OrderRank::of(found.nearness);
        match found.nearness {
            Nearness::Bound(_) => {
                let highest = OrderRank(0, f64::INFINITY);
                PendingRow { found, precision: Precision::Walked, lowest, highest }
            }
            _ => PendingRow { found, precision: Precision::Measured, lowest, highest: lowest },
        }
    }

    /// This row, whose value is known.
    fn measured(&self, nearness: Nearness) -> PendingRow {
        let (lowest, found) = (OrderRank::of(nearness), NearRow { nearness, ..self.found });
        PendingRow { found, precision: Precision::Measured, lowest, highest: lowest }
    }
}

impl PartialEq for PendingRow {
    fn eq(&self, other: &Self) -> bool {
        self.cmp(other) == Ordering::Equal
    }
}

impl Eq for PendingRow {}

impl PartialOrd for PendingRow {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

impl Ord for PendingRow {
    fn cmp(&self, other: &Self) -> Ordering {
        self.lowest.cmp(other.lowest).then(self.found.row.cmp(&other.found.row))
    }
}

/// Puts the rows of a scan into the order of the operator's values.
#[derive(Debug)]
pub struct ExactOrder {
    is_strict: bool,
    pending: BinaryHeap<Reverse<PendingRow>>,
    /// The next row of the scan, by its bound.
    next: Option<PendingRow>,
    /// The last row that was given.
    last: Option<PendingRow>,
    is_over: bool,
}

impl ExactOrder {
    /// The order of a scan that has not begun. `is_strict`: rows that come too late are left out.
    #[must_use]
    pub fn new(is_strict: bool) -> ExactOrder {
        ExactOrder { is_strict, pending: BinaryHeap::new(), next: None, last: None, is_over: false }
    }

    /// The next row of `scan`, as near as is known of it; `None` after the last.
    pub fn next<S: Store>(
        &mut self,
        store: &S,
        scan: &mut Scan,
        rows: &mut impl TableRows,
    ) -> Result<Option<NearRow>> {
        loop {
            self.look_ahead(store, scan, rows)?;
            let Some(Reverse(row)) = self.pending.pop() else {
                match self.is_over {
                    true => return Ok(None),
                    false => continue,
                }
            };
            if row.precision != Precision::Measured && self.may_be_passed(&row) {
                self.learn(store, scan, row, rows)?;
                continue;
            }
            if row.precision != Precision::Measured {
                let is_wanted = rows.is_wanted(row.found.row)?;
                scan.count_row(is_wanted);
                if !is_wanted {
                    continue;
                }
            }
            if self.is_strict && self.is_late(&row, rows)? {
                continue;
            }
            self.last = Some(row);
            return Ok(Some(row.found));
        }
    }

    /// Takes rows from the scan until the next one is not below those that are pending.
    fn look_ahead<S: Store>(
        &mut self,
        store: &S,
        scan: &mut Scan,
        rows: &mut impl TableRows,
    ) -> Result<()> {
        if scan.is_estimate() {
            if self.pending.is_empty() && !self.is_over {
                let batch = scan.batch(store)?;
                self.is_over = batch.is_empty();
                for row in batch {
                    self.measure(scan, PendingRow::new(row), rows)?;
                }
            }
            return Ok(());
        }
        while !self.is_over {
            let lowest = self.pending.peek().map(|Reverse(row)| row.lowest);
            match self.next {
                Some(next) if lowest.is_some_and(|lowest| !next.lowest.is_below(lowest)) => break,
                Some(next) => self.pending.push(Reverse(next)),
                None => {}
            }
            self.next = scan.next(store)?.map(PendingRow::new);
            self.is_over = self.next.is_none();
        }
        Ok(())
    }

    /// Whether a row that is still to come may be nearer than this one, the one with the lowest bound.
    fn may_be_passed(&self, row: &PendingRow) -> bool {
        let pending = self.pending.peek().map(|Reverse(other)| other);
        pending.into_iter().chain(&self.next).any(|other| other.lowest.is_below(row.highest))
    }

    /// Finds out more of a row.
    fn learn<S: Store>(
        &mut self,
        store: &S,
        scan: &mut Scan,
        row: PendingRow,
        rows: &mut impl TableRows,
    ) -> Result<()> {
        if row.precision == Precision::Walked
            && let Some(bounds) = scan.fine_bounds(store, &row.found)?
        {
            let known = |rank: OrderRank, value: f64| {
                if value.is_nan() { rank } else { OrderRank(0, value) }
            };
            let (lowest, highest) =
                (known(row.lowest, bounds.lower), known(row.highest, bounds.upper));
            self.pending.push(Reverse(PendingRow {
                precision: Precision::Fine,
                lowest: if lowest.is_below(row.lowest) { row.lowest } else { lowest },
                highest,
                ..row
            }));
            return Ok(());
        }
        self.measure(scan, row, rows)
    }

    /// Asks for the value of a row, and tells the scan whether the row is kept.
    fn measure(
        &mut self,
        scan: &mut Scan,
        row: PendingRow,
        rows: &mut impl TableRows,
    ) -> Result<()> {
        if row.precision == Precision::Measured {
            self.pending.push(Reverse(row));
            scan.count_row(true);
            return Ok(());
        }
        let value = rows.value(row.found.row)?;
        scan.count_row(value.is_some());
        self.pending.extend(value.map(|nearness| Reverse(row.measured(nearness))));
        Ok(())
    }

    /// Whether a row belongs before the last one that was given. If their bounds don't tell, their values do.
    fn is_late(&mut self, row: &PendingRow, rows: &mut impl TableRows) -> Result<bool> {
        let Some(last) = self.last else { return Ok(false) };
        if !row.lowest.is_below(last.highest) {
            return Ok(false);
        }
        if row.highest.is_below(last.lowest) {
            return Ok(true);
        }
        let mut measured = |row: &PendingRow| -> Result<Option<PendingRow>> {
            if row.precision == Precision::Measured {
                return Ok(Some(*row));
            }
            Ok(rows.value(row.found.row)?.map(|nearness| row.measured(nearness)))
        };
        // Of a row that nobody sees, only the lowest that it may be counts: all before it are not above that.
        let limit = measured(&last)?.map_or(last.lowest, |last| last.lowest);
        Ok(measured(row)?.is_none_or(|row| row.lowest.is_below(limit)))
    }
}
