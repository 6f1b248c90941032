//! # order: where among other documents does a document stand?
//!
//! ```text
//! (vectors, the places of those that have one) → a place for each, so that neighbours are alike
//! ```
//!
//! Documents have no order of their own, and a tree grows over neighbours. A new document is put where it fits best
//! between two neighbours: the cheapest insertion of Rosenkrantz, Stearns and Lewis (1977). A document that has a place
//! keeps it, whatever it says by now, so that its change makes no other cluster stale than its own.

use crate::vector::dot_f32;

/// A place for each of some documents, all different: `kept` where there is one, and else one between those that it is
/// like. All are new where there is no room left between two. `interrupt` is called from time to time and may unwind.
#[must_use]
pub fn places(kept: &[Option<f64>], vectors: &[&[f32]], interrupt: &mut dyn FnMut()) -> Vec<f64> {
    let unit: Vec<Vec<f32>> = vectors.iter().map(|vector| of_length_one(vector)).collect();
    let mut line: Vec<usize> = (0..kept.len()).filter(|at| kept[*at].is_some()).collect();
    line.sort_by(|a, b| kept[*a].unwrap_or_default().total_cmp(&kept[*b].unwrap_or_default()));
    // How like each of the line is to the one before it.
    let first = line.first().map(|_| 0.0);
    let others = line.windows(2).map(|it| dot_f32(&unit[it[0]], &unit[it[1]]));
    let mut ties: Vec<f64> = first.into_iter().chain(others).collect();
    for new in (0..kept.len()).filter(|at| kept[*at].is_none()) {
        interrupt();
        let likeness: Vec<f64> = line.iter().map(|it| dot_f32(&unit[*it], &unit[new])).collect();
        let gap = cheapest_gap(&likeness, &ties);
        if let Some(behind) = ties.get_mut(gap) {
            *behind = likeness[gap];
        }
        ties.insert(gap, gap.checked_sub(1).map_or(0.0, |before| likeness[before]));
        line.insert(gap, new);
    }
    numbered(&line, kept)
}

/// Before which of a line something is put in that is so like each of them: where the sum of what neighbours have in
/// common grows most, and the first of such places.
fn cheapest_gap(likeness: &[f64], ties: &[f64]) -> usize {
    let gain = |gap: usize| match (gap.checked_sub(1), likeness.get(gap)) {
        (Some(before), Some(behind)) => likeness[before] + behind - ties[gap],
        (Some(before), None) => likeness[before],
        (None, behind) => behind.copied().unwrap_or_default(),
    };
    (0..=likeness.len()).rev().max_by(|a, b| gain(*a).total_cmp(&gain(*b))).unwrap_or_default()
}

/// Numbers for a line, growing, in the order of `kept`, and as kept there where there is room for the others between.
fn numbered(line: &[usize], kept: &[Option<f64>]) -> Vec<f64> {
    let mut places = vec![0.0; line.len()];
    let mut at = 0_usize;
    for run in line.chunk_by(|a, b| kept[*a].is_none() && kept[*b].is_none()) {
        let before = at.checked_sub(1).map(|it| places[line[it]]);
        at += run.len();
        let behind = line.get(at).and_then(|it| kept[*it]);
        for (no, one) in (1..).map(f64::from).zip(run) {
            let share = no / (run.len() as f64 + 1.0);
            places[*one] = match (kept[*one], before, behind) {
                (Some(place), ..) => place,
                (None, Some(before), Some(behind)) => before + (behind - before) * share,
                (None, Some(before), None) => before + no,
                (None, None, Some(behind)) => behind - (run.len() as f64 + 1.0 - no),
                (None, None, None) => no,
            };
        }
    }
    if !line.is_sorted_by(|a, b| places[*a] < places[*b]) {
        (1..).map(f64::from).zip(line).for_each(|(no, one)| places[*one] = no);
    }
    places
}

fn of_length_one(vector: &[f32]) -> Vec<f32> {
    let length = dot_f32(vector, vector).sqrt();
    let scale = if length > 0.0 && length.is_finite() { length.recip() } else { 0.0 };
    vector.iter().map(|x| (f64::from(*x) * scale) as f32).collect()
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn ordered(kept: &[Option<f64>], vectors: &[Vec<f32>]) -> (Vec<f64>, Vec<usize>) {
        let vectors: Vec<&[f32]> = vectors.iter().map(Vec::as_slice).collect();
        let places = places(kept, &vectors, &mut || {});
        let mut line: Vec<usize> = (0..places.len()).collect();
        line.sort_by(|a, b| places[*a].total_cmp(&places[*b]));
        (places, line)
    }

    fn of_topic(topic: usize, number: usize) -> Vec<f32> {
        let mut vector = vec![0.5; 8];
        vector[topic % 8] = 2.0 + number as f32 / 100.0;
        vector
    }

    proptest! {
        #[test]
        fn what_is_alike_stands_together(topics in prop::collection::vec(0..8_usize, 0..60)) {
            let vectors: Vec<Vec<f32>> = topics.iter().enumerate().map(|(n, topic)| of_topic(*topic, n)).collect();
            let (_, line) = ordered(&vec![None; topics.len()], &vectors);
            let mut runs: Vec<usize> = line.iter().map(|at| topics[*at]).collect();
            runs.dedup();
            let mut distinct = topics.clone();
            distinct.sort_unstable();
            distinct.dedup();
            prop_assert_eq!(runs.len(), distinct.len(), "each topic in one run");
        }

        #[test]
        fn who_has_a_place_keeps_it(topics in prop::collection::vec(0..8_usize, 1..40), new in prop::collection::vec(0..8_usize, 0..10)) {
            let of = |topics: &[usize]| -> Vec<Vec<f32>> {
                topics.iter().enumerate().map(|(n, topic)| of_topic(*topic, n)).collect()
            };
            let (before, _) = ordered(&vec![None; topics.len()], &of(&topics));
            let all = [topics.as_slice(), &new].concat();
            let kept: Vec<Option<f64>> =
                before.iter().copied().map(Some).chain(new.iter().map(|_| None)).collect();
            let (after, line) = ordered(&kept, &of(&all));
            prop_assert_eq!(&after[..topics.len()], before.as_slice());
            prop_assert!(line.is_sorted_by(|a, b| after[*a] < after[*b]));
        }
    }

    #[test]
    fn where_no_room_is_left_all_get_new_places() {
        let next = 1.0_f64.next_up();
        let vectors = [vec![1.0, 0.0], vec![0.0, 1.0], vec![1.0, 1.0]];
        let (places, line) = ordered(&[Some(1.0), Some(next), None], &vectors);
        assert_eq!((places, line), (vec![1.0, 3.0, 2.0], vec![0, 2, 1]));
        // What has no direction stands somewhere.
        assert_eq!(ordered(&[None], &[vec![0.0]]).0, [1.0]);
        assert_eq!(ordered(&[None, Some(4.0)], &[vec![0.0], vec![1.0]]).0, [3.0, 4.0]);
        assert!(ordered(&[], &[]).0.is_empty());
    }
}
