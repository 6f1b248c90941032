//! # walk or sweep: which finds the nearest rows for less?
//!
//! ```text
//! (nodes, those that count, what a query keeps, ef) → whether to read in order and not to walk
//! ```

use super::page::{HnswPageKind, IndexShape};
use crate::error::Result;
use crate::pages::Store;

/// A distance on a walk costs as much as so many in order, about.
const WALK_TO_SWEEP: usize = 6;
/// Distances that a walk computes for each of the nearest it finds, about.
const DISTANCES: usize = 10;
/// Where so many nodes per ef_search and neighbour match, or fewer, looking at all of them takes no longer
/// than a walk.
const MATCHES_TO_LOOK_AT: usize = 3;
/// So many, per ef_search and neighbour, are all looked at where they are far from the probe: a walk ends there before it
/// has come to the nearest of them.
const FAR_MATCHES_TO_LOOK_AT: usize = 24;
/// Matches are far where they are so many times as rare among the nodes around the probe as elsewhere.
const FAR: f64 = 4.0;
/// Rows that a query asks for, as long as nobody says how many.
const ROWS: f64 = 10.0;
/// Rows that a query looks at for each row it gives: beside those that are near, those whose bounds are below the
/// distance of the last of them.
const LOOKS: f64 = 1.4;
/// The planner's estimate of what a query keeps counts as much as so many rows that were seen.
const ROWS_FOR_ESTIMATE: f64 = 20.0;

/// What a query keeps of the rows that a scan gives it.
#[derive(Clone, Copy, Debug)]
pub struct KeptRows {
    /// The share that is expected.
    expected: f64,
    given: u64,
    kept: u64,
}

impl KeptRows {
    /// Before any row was given.
    #[must_use]
    pub fn expected(share: f64) -> KeptRows {
        KeptRows { expected: share.clamp(0.0, 1.0), given: 0, kept: 0 }
    }

    /// Counts a row.
    pub fn count(&mut self, is_kept: bool) {
        self.given += 1;
        self.kept += u64::from(is_kept);
    }

    /// The share that is expected after what was seen. The next row may always be one that is kept: few rows do not prove
    /// an estimate that says there is none.
    fn share(&self) -> f64 {
        let kept = self.kept as f64 + ROWS_FOR_ESTIMATE * self.expected;
        kept.max(1.0) / (self.given as f64 + ROWS_FOR_ESTIMATE)
    }

    /// How many rows a query looks at until it has what it asks for.
    fn looks(&self) -> f64 {
        ROWS * LOOKS / self.share()
    }
}

/// What tells whether to walk.
#[derive(Clone, Copy, Debug)]
pub struct WalkOrSweep {
    /// Nodes of the index, about.
    nodes: usize,
    /// Those that meet the conditions on filter columns; `None` without conditions.
    matches: Option<usize>,
    /// Neighbours of a node.
    degree: usize,
    is_iterative: bool,
    /// The part that a walk gives of what it finds.
    part_given: f64,
}

impl WalkOrSweep {
    /// Counts the nodes of an index. `matches` says how many count.
    pub fn new<S: Store>(
        store: &S,
        shape: &IndexShape,
        matches: Option<usize>,
        is_iterative: bool,
    ) -> Result<WalkOrSweep> {
        let pages = shape.layout.data_pages(store.blocks()?) as usize;
        let nodes = pages * shape.slots(HnswPageKind::Ground) as usize;
        // What is known by estimates is measured before it is given, so all of it can be.
        let part_given = if shape.space.is_estimate() { 1.0 } else { 0.5 };
        Ok(WalkOrSweep { nodes, matches, degree: shape.degree.most(0), is_iterative, part_given })
    }

    /// The share of the nodes that match.
    pub fn share(&self) -> f64 {
        self.matches.map_or(1.0, |matches| matches as f64 / self.nodes.max(1) as f64)
    }

    /// Whether a sweep costs less than a walk with `ef`. How many rows will be asked for is not known, so a walk goes on until
    /// it has cost as much as a sweep: then both together never cost more than twice what would have been best (the
    /// rule for renting skis, Karlin and others, Algorithmica 3, 1988).
    pub fn is_sweep_cheaper(&self, ef: usize) -> bool {
        self.is_sweep_cheaper_than(ef, ef.saturating_mul(DISTANCES))
    }

    /// Whether a sweep costs less than a walk that goes on with `ef`, and has `met` so many nodes so far. If most of the rows
    /// that it gave were dropped, it would have to go on for long.
    pub fn is_sweep_cheaper_from_here(&self, ef: usize, met: usize, kept: &KeptRows) -> bool {
        let needed = (kept.looks() / self.part_given) as usize;
        self.is_sweep_cheaper_than(ef, ef.max(needed).saturating_mul(DISTANCES).max(met))
    }

    fn is_sweep_cheaper_than(&self, ef: usize, distances: usize) -> bool {
        match self.matches {
            Some(matches) => matches <= MATCHES_TO_LOOK_AT * ef * self.degree,
            None => self.is_iterative && distances.saturating_mul(WALK_TO_SWEEP) >= self.nodes,
        }
    }

    /// Whether all matches should be looked at, though they are many, because a walk would not come to the nearest of them.
    /// `share_around` finds out the share of the nodes around the probe that match; it is not asked where they are too many.
    pub fn is_walk_in_vain(
        &self,
        ef: usize,
        share_around: impl FnOnce() -> Result<f64>,
    ) -> Result<bool> {
        let most = FAR_MATCHES_TO_LOOK_AT * ef * self.degree;
        let are_few = self.matches.is_some_and(|matches| matches <= most);
        Ok(are_few && FAR * share_around()? <= self.share())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn of(nodes: usize, matches: Option<usize>) -> WalkOrSweep {
        WalkOrSweep { nodes, matches, degree: 32, is_iterative: true, part_given: 0.5 }
    }

    fn seen(expected: f64, given: usize, kept: usize) -> KeptRows {
        let mut rows = KeptRows::expected(expected);
        (0..given).for_each(|at| rows.count(at < kept));
        rows
    }

    #[test]
    fn a_small_index_is_read_in_order_and_a_large_one_is_not() {
        assert!(of(1000, None).is_sweep_cheaper(40));
        assert!(!of(100_000, None).is_sweep_cheaper(40));
        assert!(!WalkOrSweep { is_iterative: false, ..of(1000, None) }.is_sweep_cheaper(40));
    }

    #[test]
    fn a_walk_goes_on_until_it_has_cost_as_much_as_a_sweep() {
        let (choice, kept) = (of(120_000, None), seen(1.0, 100, 100));
        assert!(!choice.is_sweep_cheaper_from_here(60, 1_000, &kept));
        assert!(choice.is_sweep_cheaper_from_here(60, 20_000, &kept));
    }

    #[test]
    fn a_walk_whose_rows_are_dropped_gives_way() {
        let sweeps = |kept| of(120_000, None).is_sweep_cheaper_from_here(60, 600, &kept);
        assert!(sweeps(seen(0.01, 100, 0)) && sweeps(seen(0.0, 100, 1)));
        assert!(sweeps(seen(1.0, 2000, 0)));
        // Twenty rows say little, whatever the planner says.
        assert!(!sweeps(seen(0.01, 20, 0)) && !sweeps(seen(0.0, 20, 0)));
        assert!(!sweeps(seen(0.5, 20, 10)) && !sweeps(seen(0.1, 20, 2)));
        // What was seen counts if the planner is wrong.
        assert!(!sweeps(seen(0.000_001, 20, 2)));
        // What the index filters by itself does not count as dropped.
        let filtered = of(1_000_000, Some(200_000));
        assert!(!filtered.is_sweep_cheaper_from_here(60, 600, &seen(0.0, 100, 0)));
    }

    #[test]
    fn matches_that_are_far_are_all_looked_at() {
        let choice = of(120_000, Some(12_000));
        assert!(!choice.is_sweep_cheaper(40) && choice.is_sweep_cheaper(200));
        let in_vain = |around: f64| choice.is_walk_in_vain(40, || Ok(around)).unwrap();
        assert!(in_vain(0.0) && in_vain(0.02) && !in_vain(0.1));
        let unasked = || panic!("so many are not all looked at");
        assert!(!of(1_200_000, Some(120_000)).is_walk_in_vain(40, unasked).unwrap());
    }
}
