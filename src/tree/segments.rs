//! Where is a row of neighbours cut into runs?

use std::ops::Range;

use super::FANOUT;

/// Fewest members of a run, so that each level has at most half as many nodes as the one below.
const FEWEST: usize = 2;

/// The runs of `members` neighbours, two to [`FANOUT`] each, where the cuts cost least: a cut before the member `at`
/// costs `1 + likeness(at)`, which is the cosine similarity of this and the one before it. So there are few cuts,
/// between those that are least alike. One member is a run.
///
/// Dynamic programming finds the best; of equally good ones that with the longest runs at the end.
pub(super) fn runs(members: usize, likeness: impl Fn(usize) -> f64) -> Vec<Range<usize>> {
    if members < 2 * FEWEST {
        return std::iter::once(0..members).filter(|run| !run.is_empty()).collect();
    }
    // By how many members are in runs: what their cuts cost, and where the last run begins.
    let mut best = vec![(f64::INFINITY, 0); members + 1];
    best[0].0 = 0.0;
    for end in FEWEST..=members {
        for start in end.saturating_sub(FANOUT)..=end - FEWEST {
            let cut = if start == 0 { 0.0 } else { 1.0 + likeness(start) };
            let cost = best[start].0 + cut;
            if cost < best[end].0 {
                best[end] = (cost, start);
            }
        }
    }
    let mut runs = Vec::new();
    let mut end = members;
    while end > 0 {
        let start = best[end].1;
        runs.push(start..end);
        end = start;
    }
    runs.reverse();
    runs
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    /// What the cuts of some runs cost.
    fn cost(runs: &[Range<usize>], likeness: &[f64]) -> f64 {
        runs.iter().skip(1).map(|run| 1.0 + likeness[run.start]).sum()
    }

    /// The least cost of all ways to cut, tried one by one.
    fn least_cost(members: usize, from: usize, likeness: &[f64]) -> f64 {
        if from == members {
            return 0.0;
        }
        let cut = if from == 0 { 0.0 } else { 1.0 + likeness[from] };
        let ends = from + FEWEST..=(from + FANOUT).min(members);
        let costs = ends.map(|end| cut + least_cost(members, end, likeness));
        costs.fold(f64::INFINITY, f64::min)
    }

    proptest! {
        #[test]
        fn no_other_cuts_cost_less(likeness in prop::collection::vec(-1.0..1.0, 0..16)) {
            let members = likeness.len();
            let runs = runs(members, |at| likeness[at]);
            prop_assert_eq!(runs.iter().cloned().flatten().collect::<Vec<_>>(), (0..members).collect::<Vec<_>>());
            prop_assert!(runs.iter().all(|run| (FEWEST.min(members)..=FANOUT).contains(&run.len())));
            if members >= FEWEST {
                prop_assert!((cost(&runs, &likeness) - least_cost(members, 0, &likeness)).abs() < 1e-9);
            }
        }
    }

    #[test]
    fn a_row_is_cut_where_it_changes() {
        let alike = |at: usize| if at == 3 { 0.1 } else { 0.9 };
        assert_eq!(runs(10, alike), [0..3, 3..10]);
        assert_eq!(runs(8, alike), std::slice::from_ref(&(0..8)));
        assert_eq!(runs(1, alike), std::slice::from_ref(&(0..1)));
        assert!(runs(0, alike).is_empty());
    }
}
