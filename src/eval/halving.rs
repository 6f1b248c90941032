//! Which configurations are worth more questions?
//!
//! Successive halving (Jamieson and Talwalkar, AISTATS 2016): all configurations are asked a few questions,
//! the better half of them twice as many, and so on, until the last two have been asked all. Each rung
//! takes about as many questions as any other, so n configurations take about log2 n times what one takes,
//! and not n times.
//!
//! ```text
//! 8 configurations, 40 questions → 8 up to the 10th, 4 up to the 20th, 2 up to the 40th
//! ```

use super::measure::{Measure, Scores};

/// Questions that a configuration is asked at least before it may be left out: by fewer of them it is
/// little but chance.
const FEWEST: usize = 5;

/// A step of a search.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Rung {
    /// How many configurations take part, the best of those of the rung before.
    pub configurations: usize,
    /// How many questions they have been asked at its end, those of earlier rungs included.
    pub cases: usize,
}

/// The rungs by which the best of `configurations` is found with at most `cases` questions, both 1 or more. On
/// each, one of `eta` goes on, which is 2 or more.
pub fn rungs(configurations: usize, cases: usize, eta: usize) -> Vec<Rung> {
    let mut entering = vec![configurations];
    while let Some(last) = entering.last().copied().filter(|last| *last > eta) {
        entering.push(last.div_ceil(eta));
    }
    let steps = entering.len();
    let rung = |(place, configurations): (usize, usize)| {
        let above = u32::try_from(steps - 1 - place).unwrap_or(u32::MAX);
        Rung { configurations, cases: cases.div_ceil(eta.saturating_pow(above)) }
    };
    let mut rungs: Vec<Rung> = entering.into_iter().enumerate().map(rung).collect();
    let first = rungs.iter().position(|rung| rung.cases >= FEWEST).unwrap_or(steps - 1);
    rungs.drain(..first);
    // Nobody is left out by a rung that is not held.
    rungs[0].configurations = configurations;
    rungs
}

/// The one rung in which all configurations are asked all questions.
pub fn grid(configurations: usize, cases: usize) -> Vec<Rung> {
    vec![Rung { configurations, cases }]
}

/// The mean of a measure over cases.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct MeanScore {
    /// The mean.
    pub value: f64,
    /// Cases for which the measure is defined.
    pub cases: usize,
}

/// The mean of `measure` over the scores of cases; `None` where it is defined for none.
pub fn mean_score(scores: &[Scores], measure: Measure) -> Option<MeanScore> {
    let of_case = |scores: &Scores| Some(scores.iter().find(|(it, _)| *it == measure)?.1);
    let values: Vec<f64> = scores.iter().filter_map(of_case).collect();
    let cases = values.len();
    (cases > 0).then(|| MeanScore { value: values.iter().sum::<f64>() / cases as f64, cases })
}

/// The `count` configurations with the greatest means, in the order of `configurations`. Of equal ones the
/// first are taken, and those without a mean last.
pub fn best(
    configurations: &[usize],
    mean: impl Fn(usize) -> Option<f64>,
    count: usize,
) -> Vec<usize> {
    let value = |configuration: usize| mean(configuration).unwrap_or(f64::NEG_INFINITY);
    let mut places: Vec<usize> = (0..configurations.len()).collect();
    places.sort_by(|a, b| value(configurations[*b]).total_cmp(&value(configurations[*a])));
    places.truncate(count);
    places.sort_unstable();
    places.into_iter().map(|place| configurations[place]).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::eval::measure::EvalMetric;

    fn check(configurations: usize, cases: usize, eta: usize, expected: &[(usize, usize)]) {
        let found: Vec<(usize, usize)> = rungs(configurations, cases, eta)
            .iter()
            .map(|rung| (rung.configurations, rung.cases))
            .collect();
        assert_eq!(found, expected, "{configurations} on {cases} by {eta}");
    }

    #[test]
    fn each_rung_has_fewer_configurations_and_more_questions() {
        check(8, 40, 2, &[(8, 10), (4, 20), (2, 40)]);
        check(9, 100, 3, &[(9, 34), (3, 100)]);
        check(7, 40, 2, &[(7, 10), (4, 20), (2, 40)]);
        check(2, 40, 2, &[(2, 40)]);
        check(1, 40, 2, &[(1, 40)]);
        check(256, 1, 2, &[(256, 1)]);
        assert_eq!(grid(8, 40), [Rung { configurations: 8, cases: 40 }]);
    }

    #[test]
    fn nobody_is_left_out_by_a_handful_of_questions() {
        check(64, 20, 2, &[(64, 5), (4, 10), (2, 20)]);
        check(64, 4, 2, &[(64, 4)]);
    }

    #[test]
    fn no_rung_takes_much_more_than_another() {
        for (configurations, cases) in [(16, 320), (100, 1000), (256, 4000)] {
            let rungs = rungs(configurations, cases, 2);
            let mut asked = 0;
            let taken: Vec<usize> = rungs
                .iter()
                .map(|rung| {
                    let taken = rung.configurations * (rung.cases - asked);
                    asked = rung.cases;
                    taken
                })
                .collect();
            assert!(taken.iter().max() < taken.iter().min().map(|it| it * 3).as_ref(), "{taken:?}");
            assert!(taken.iter().sum::<usize>() * 2 < configurations * cases, "{taken:?}");
        }
    }

    #[test]
    fn the_best_go_on_in_their_order() {
        let means = [Some(0.5), None, Some(0.9), Some(0.5), Some(0.7)];
        let check = |count: usize, expected: &[usize]| {
            assert_eq!(best(&[4, 3, 2, 1, 0], |it| means[it], count), expected);
        };
        check(1, &[2]);
        check(2, &[4, 2]);
        // Of equal ones the first.
        check(3, &[4, 3, 2]);
        check(4, &[4, 3, 2, 0]);
        check(9, &[4, 3, 2, 1, 0]);
    }

    #[test]
    fn cases_without_a_score_do_not_count() {
        let ndcg = Measure::at(EvalMetric::Ndcg, 10);
        let scores =
            [vec![(ndcg, 1.0)], vec![], vec![(ndcg, 0.5), (Measure::of(EvalMetric::TokenF1), 0.0)]];
        assert_eq!(mean_score(&scores, ndcg), Some(MeanScore { value: 0.75, cases: 2 }));
        assert_eq!(mean_score(&scores, Measure::at(EvalMetric::Ndcg, 5)), None);
    }
}
