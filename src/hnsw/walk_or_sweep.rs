//! # walk or sweep: which finds the nearest rows for less?
//!
//! ```text
//! (nodes, those that count, what a query keeps, ef) → whether to read in order and not to walk
//! ```

use super::page::{HnswPageKind, IndexShape};
use super::scan_options::ScanOptions;
use crate::error::Result;
use crate::pages::Store;

/// A distance on a walk costs as much as so many in order, about.
const WALK_TO_SWEEP: usize = 6;
/// Distances that a walk computes for each of the nearest it finds, about.
const DISTANCES: usize = 10;
/// Where so many nodes per ef_search and neighbour match, or fewer, looking at all of them takes no longer
/// than a walk.
const MATCHES_TO_LOOK_AT: usize = 3;
/// The same where they are far from the probe: a walk ends there before it has come to the nearest of them.
const FAR_MATCHES_TO_LOOK_AT: usize = 24;
/// Matches are far where they are so many times as rare among the nodes around the probe as elsewhere.
const FAR: f64 = 4.0;
/// Rows that a query asks for, as long as nobody says how many.
const ROWS: f64 = 10.0;
/// Rows that a query looks at for each row it gives: beside those that are near, those whose bounds are below the
/// distance of the last of them.
const LOOKS: f64 = 1.4;

/// What tells whether to walk.
#[derive(Clone, Copy, Debug)]
pub struct WalkOrSweep {
    /// Nodes of the index, about.
    nodes: usize,
    /// Those that meet the conditions on filter columns; `None` without conditions.
    matches: Option<usize>,
    /// Neighbours of a node.
    degree: usize,
    options: ScanOptions,
}

impl WalkOrSweep {
    /// Counts the nodes of an index. `matches` says how many count.
    pub fn new<S: Store>(
        store: &S,
        shape: &IndexShape,
        options: ScanOptions,
        matches: Option<usize>,
    ) -> Result<WalkOrSweep> {
        let pages = shape.layout.data_pages(store.blocks()?) as usize;
        let nodes = pages * shape.slots(HnswPageKind::Ground) as usize;
        Ok(WalkOrSweep { nodes, matches, degree: shape.degree.most(0), options })
    }

    /// The share of the nodes that match.
    pub fn share(&self) -> f64 {
        self.matches.map_or(1.0, |matches| matches as f64 / self.nodes.max(1) as f64)
    }

    /// Whether a sweep costs less than the first walk and those that will be needed after it, because the query drops many
    /// of the rows that it gets.
    pub fn is_sweep_cheaper_from_the_start(&self) -> bool {
        let looks = ROWS * LOOKS / self.options.share_kept.max(f64::MIN_POSITIVE);
        // A walk gives the nearer half of what it finds.
        let ef = self.options.ef_search.max((2.0 * looks) as usize);
        match self.matches {
            Some(_) => self.is_sweep_cheaper(self.options.ef_search, 0),
            None => self.is_sweep_cheaper(ef, 0),
        }
    }

    /// Whether a sweep costs less than a walk with `ef` after one that has `met` so many nodes. How many rows will be asked
    /// for is not known, so a walk goes on until it has cost as much as a sweep: then both together never cost more than twice
    /// what would have been best (the rule for renting skis, Karlin and others, Algorithmica 3, 1988).
    pub fn is_sweep_cheaper(&self, ef: usize, met: usize) -> bool {
        match self.matches {
            Some(matches) => matches <= MATCHES_TO_LOOK_AT * ef * self.degree,
            None => {
                let distances = ef.saturating_mul(DISTANCES).max(met);
                let is_cheaper = distances.saturating_mul(WALK_TO_SWEEP) >= self.nodes;
                self.options.is_iterative && is_cheaper
            }
        }
    }

    /// Whether all matches should be looked at, though they are many, because a walk would not come to the nearest of them.
    /// `share_around` is the share of the nodes around the probe that match.
    pub fn is_walk_in_vain(&self, ef: usize, share_around: f64) -> bool {
        let most = FAR_MATCHES_TO_LOOK_AT * ef * self.degree;
        self.matches.is_some_and(|matches| matches <= most) && FAR * share_around <= self.share()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const OPTIONS: ScanOptions = ScanOptions {
        ef_search: 40,
        is_iterative: true,
        max_scan_tuples: 20_000,
        memory: 1 << 22,
        share_kept: 1.0,
    };

    fn of(nodes: usize, matches: Option<usize>, options: ScanOptions) -> WalkOrSweep {
        WalkOrSweep { nodes, matches, degree: 32, options }
    }

    #[test]
    fn a_small_index_is_read_in_order_and_a_large_one_is_not() {
        assert!(of(1000, None, OPTIONS).is_sweep_cheaper_from_the_start());
        assert!(!of(100_000, None, OPTIONS).is_sweep_cheaper_from_the_start());
        let once = ScanOptions { is_iterative: false, ..OPTIONS };
        assert!(!of(1000, None, once).is_sweep_cheaper_from_the_start());
    }

    #[test]
    fn a_query_that_drops_most_rows_sweeps_at_once() {
        let keeps = |share_kept| ScanOptions { share_kept, ..OPTIONS };
        let sweeps = |share| of(100_000, None, keeps(share)).is_sweep_cheaper_from_the_start();
        assert!(sweeps(0.001) && sweeps(0.0) && !sweeps(0.1) && !sweeps(1.0));
        // What the index filters by itself does not count as dropped.
        let filtered = of(1_000_000, Some(200_000), keeps(0.001));
        assert!(!filtered.is_sweep_cheaper_from_the_start());
    }

    #[test]
    fn a_walk_goes_on_until_it_has_cost_as_much_as_a_sweep() {
        let choice = of(120_000, None, OPTIONS);
        assert!(!choice.is_sweep_cheaper(60, 1_000) && choice.is_sweep_cheaper(60, 20_000));
    }

    #[test]
    fn matches_that_are_far_are_all_looked_at() {
        let choice = of(120_000, Some(12_000), OPTIONS);
        assert!(!choice.is_sweep_cheaper(40, 0) && choice.is_sweep_cheaper(200, 0));
        assert!(choice.is_walk_in_vain(40, 0.0) && choice.is_walk_in_vain(40, 0.02));
        assert!(!choice.is_walk_in_vain(40, 0.1));
        assert!(!of(1_200_000, Some(120_000), OPTIONS).is_walk_in_vain(40, 0.0));
    }
}
