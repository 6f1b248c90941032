//! Between which bounds would the figure lie with other questions of the same kind?
//!
//! The percentile bootstrap (Efron and Tibshirani, An Introduction to the Bootstrap, 1993, chapter
//! 13; for retrieval Sakai, SIGIR 2006): draw as many cases as there are, with replacement, compute
//! the figure, repeat, and leave out the same share of figures at both ends. It supposes nothing of
//! how scores are distributed, which with many zeros and ones is anything but normally.

use super::percentile::percentile;
use crate::random::Random;

/// How an interval is computed.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Resampling {
    /// How often all cases are drawn.
    pub resamples: u32,
    /// Share of figures that lie within the interval, between 0 and 1.
    pub confidence: f64,
    /// Where the random numbers begin.
    pub seed: u64,
}

/// The interval of the mean of `values`; `None` of none.
///
/// `interrupt` is called now and then, and may unwind.
pub fn of_mean(values: &[f64], how: Resampling, interrupt: &mut dyn FnMut()) -> Option<(f64, f64)> {
    let mut random = Random::new(how.seed);
    let figures = (0..how.resamples).map(|_| {
        interrupt();
        let sum: f64 = (0..values.len()).map(|_| values[random.below(values.len())]).sum();
        sum / values.len() as f64
    });
    bounds(figures, values, how)
}

/// The interval of any figure of `values`, which may reorder the drawn ones; `None` of none.
pub fn of(
    values: &[f64],
    how: Resampling,
    figure: impl Fn(&mut [f64]) -> f64,
    interrupt: &mut dyn FnMut(),
) -> Option<(f64, f64)> {
    let mut random = Random::new(how.seed);
    let mut drawn = vec![0.0; values.len()];
    let figures = (0..how.resamples).map(|_| {
        interrupt();
        drawn.iter_mut().for_each(|value| *value = values[random.below(values.len())]);
        figure(&mut drawn)
    });
    bounds(figures, values, how)
}

fn bounds(
    figures: impl Iterator<Item = f64>,
    values: &[f64],
    how: Resampling,
) -> Option<(f64, f64)> {
    if values.is_empty() {
        return None;
    }
    let mut figures: Vec<f64> = figures.collect();
    let outside = (1.0 - how.confidence) / 2.0;
    let low = percentile(&mut figures, outside)?;
    Some((low, percentile(&mut figures, 1.0 - outside)?))
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    const HOW: Resampling = Resampling { resamples: 400, confidence: 0.95, seed: 1 };

    fn mean(values: &mut [f64]) -> f64 {
        values.iter().sum::<f64>() / values.len() as f64
    }

    proptest! {
        #[test]
        fn the_mean_is_a_figure_like_any_other(
            values in proptest::collection::vec(0.0..1.0f64, 0..30),
            seed: u64,
        ) {
            let how = Resampling { resamples: 50, seed, ..HOW };
            let (fast, naive) = (of_mean(&values, how, &mut || ()), of(&values, how, mean, &mut || ()));
            prop_assert_eq!(fast.is_some(), naive.is_some());
            if let (Some(fast), Some(naive)) = (fast, naive) {
                prop_assert!((fast.0 - naive.0).abs() < 1e-12 && (fast.1 - naive.1).abs() < 1e-12);
            }
        }
    }

    #[test]
    fn the_interval_is_about_that_of_the_normal_distribution() {
        // 400 values 0 and 1, half of each: the standard error of their mean is 0.025.
        let values: Vec<f64> = (0..400).map(|n| f64::from(n % 2)).collect();
        let (low, high) = of_mean(&values, HOW, &mut || ()).unwrap();
        assert!((low - 0.451).abs() < 0.01 && (high - 0.549).abs() < 0.01, "{low}, {high}");
    }

    #[test]
    fn an_interval_holds_the_truth_about_as_often_as_it_says() {
        let mut random = Random::new(5);
        let mut holds = 0;
        for round in 0..300 {
            let values: Vec<f64> =
                (0..60).map(|_| f64::from(u8::from(random.below(10) < 7))).collect();
            let how = Resampling { seed: round, confidence: 0.9, ..HOW };
            let (low, high) = of_mean(&values, how, &mut || ()).unwrap();
            holds += usize::from((low..=high).contains(&0.7));
        }
        assert!((252..=288).contains(&holds), "{holds} of 300");
    }

    #[test]
    fn of_one_value_there_is_nothing_to_doubt() {
        assert_eq!(of_mean(&[0.5], HOW, &mut || ()), Some((0.5, 0.5)));
        assert_eq!(of_mean(&[], HOW, &mut || ()), None);
    }
}
