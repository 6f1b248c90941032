//! From which cosine on are questions of one likeness the same?

use crate::pairs::MeasuredPair;

/// Cosines that are tried are such parts of 1.
const STEPS: u16 = 200;

/// The least of them.
const FIRST: u16 = 100;

/// How many of the answers that are reused must be right.
const PRECISION: f64 = 0.99;

/// Pairs that must be accepted at least: fewer say nothing of one in a hundred.
const LEAST_ACCEPTED: usize = 10;

/// The smallest threshold with which the precision of `pairs` is [`PRECISION`], also one step below it, raised as far as
/// that costs no pair; `None` where there is none.
pub fn least(pairs: &[&MeasuredPair]) -> Option<f32> {
    let mut step = (FIRST + 1..=STEPS).find(|step| is_precise(pairs, step - 1))?;
    let right = accepted(pairs, step).1;
    while step < STEPS && accepted(pairs, step + 1).1 == right {
        step += 1;
    }
    Some(cosine(step))
}

fn is_precise(pairs: &[&MeasuredPair], step: u16) -> bool {
    let (all, right) = accepted(pairs, step);
    all >= LEAST_ACCEPTED && right as f64 >= PRECISION * all as f64
}

/// How many pairs have such a cosine, and how many of them mean the same.
fn accepted(pairs: &[&MeasuredPair], step: u16) -> (usize, usize) {
    let near = pairs.iter().filter(|it| it.cosine >= cosine(step));
    (near.clone().count(), near.filter(|it| it.pair.same).count())
}

fn cosine(step: u16) -> f32 {
    f32::from(step) / f32::from(STEPS)
}
