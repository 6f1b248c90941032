//! The figures of an evaluation: a row for each configuration and measure.

use std::collections::BTreeMap;

use super::interval::{self, Resampling};
use super::measure::{EvalMetric, Measure, Scores};
use super::percentile::percentile;
use super::significance;

/// How figures are made of scores.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct SummaryOptions {
    /// How intervals are computed.
    pub resampling: Resampling,
    /// How many tosses the significance test draws.
    pub permutations: u32,
}

/// A figure of a configuration, with its interval.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Figure {
    /// The number of the configuration, from 0.
    pub configuration: usize,
    /// The metric, and over how many results.
    pub measure: Measure,
    /// Its mean, or percentile.
    pub value: f64,
    /// The lower bound of its interval.
    pub low: f64,
    /// The upper bound of its interval.
    pub high: f64,
    /// On how many cases it is defined.
    pub cases: usize,
    /// How it stands to the first configuration's.
    pub contrast: Option<Contrast>,
}

/// How a configuration stands to the first one, on the cases that both have a score for.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Contrast {
    /// The configuration's figure less the first one's.
    pub difference: f64,
    /// How likely it is by chance; `None` of percentiles, which are not means of cases.
    pub p_value: Option<f64>,
}

/// The scores of one measure, by case.
type ScoreColumn = BTreeMap<usize, f64>;

/// The figures of all configurations, in their order. `scores` has for each configuration the
/// scores of each case.
///
/// `interrupt` is called now and then, and may unwind.
pub fn figures(
    scores: &[Vec<Scores>],
    options: SummaryOptions,
    interrupt: &mut dyn FnMut(),
) -> Vec<Figure> {
    let columns: Vec<BTreeMap<Measure, ScoreColumn>> =
        scores.iter().map(|it| by_measure(it)).collect();
    let mut figures = Vec::new();
    for (configuration, own) in columns.iter().enumerate() {
        for (measure, column) in own {
            let first = columns.first().filter(|_| configuration > 0);
            let side = Side { own: column, first: first.and_then(|it| it.get(measure)), options };
            figures.extend(side.mean(configuration, *measure, interrupt));
            if measure.metric == EvalMetric::LatencyMean {
                figures.extend(side.percentiles(configuration, interrupt));
            }
        }
    }
    figures
}

fn by_measure(cases: &[Scores]) -> BTreeMap<Measure, ScoreColumn> {
    let mut columns: BTreeMap<Measure, ScoreColumn> = BTreeMap::new();
    for (case, scores) in cases.iter().enumerate() {
        for (measure, value) in scores {
            columns.entry(*measure).or_default().insert(case, *value);
        }
    }
    columns
}

/// One measure of one configuration, and of the first.
struct Side<'a> {
    own: &'a ScoreColumn,
    first: Option<&'a ScoreColumn>,
    options: SummaryOptions,
}

impl Side<'_> {
    fn mean(
        &self,
        configuration: usize,
        measure: Measure,
        interrupt: &mut dyn FnMut(),
    ) -> Option<Figure> {
        let values: Vec<f64> = self.own.values().copied().collect();
        let (low, high) = interval::of_mean(&values, self.options.resampling, interrupt)?;
        let contrast = self.first.map(|first| self.contrast(first, interrupt));
        let (value, cases) = (mean(&values), values.len());
        Some(Figure { configuration, measure, value, low, high, cases, contrast })
    }

    fn contrast(&self, first: &ScoreColumn, interrupt: &mut dyn FnMut()) -> Contrast {
        let shared = self.own.iter().filter_map(|(case, own)| Some(own - first.get(case)?));
        let differences: Vec<f64> = shared.collect();
        let (draws, seed) = (self.options.permutations, self.options.resampling.seed);
        let p_value = significance::p_value(&differences, draws, seed, interrupt);
        Contrast { difference: mean(&differences), p_value: Some(p_value) }
    }

    fn percentiles(&self, configuration: usize, interrupt: &mut dyn FnMut()) -> Vec<Figure> {
        let shares = [
            (EvalMetric::LatencyP50, 0.5),
            (EvalMetric::LatencyP95, 0.95),
            (EvalMetric::LatencyP99, 0.99),
        ];
        let values: Vec<f64> = self.own.values().copied().collect();
        let first: Option<Vec<f64>> = self.first.map(|it| it.values().copied().collect());
        let of_share = |(metric, q): (EvalMetric, f64)| {
            let at = |values: &mut [f64]| percentile(values, q).unwrap_or_default();
            let value = percentile(&mut values.clone(), q)?;
            let (low, high) = interval::of(&values, self.options.resampling, at, interrupt)?;
            let contrast = first.clone().and_then(|mut first| {
                let difference = value - percentile(&mut first, q)?;
                Some(Contrast { difference, p_value: None })
            });
            let (measure, cases) = (Measure::of(metric), values.len());
            Some(Figure { configuration, measure, value, low, high, cases, contrast })
        };
        shares.into_iter().filter_map(of_share).collect()
    }
}

/// The mean; 0 of none.
fn mean(values: &[f64]) -> f64 {
    values.iter().sum::<f64>() / values.len().max(1) as f64
}

#[cfg(test)]
mod tests {
    use super::*;

    const OPTIONS: SummaryOptions = SummaryOptions {
        resampling: Resampling { resamples: 200, confidence: 0.95, seed: 1 },
        permutations: 999,
    };
    const NDCG: Measure = Measure { metric: EvalMetric::Ndcg, k: Some(10) };
    const LATENCY: Measure = Measure { metric: EvalMetric::LatencyMean, k: None };

    fn figure(figures: &[Figure], configuration: usize, measure: Measure) -> &Figure {
        let wanted = |it: &&Figure| it.configuration == configuration && it.measure == measure;
        figures.iter().find(wanted).unwrap()
    }

    #[test]
    fn configurations_are_compared_with_the_first() {
        let scores = |values: &[f64]| values.iter().map(|it| vec![(NDCG, *it)]).collect::<Vec<_>>();
        let both = [scores(&[0.0, 0.5, 1.0, 0.5]), scores(&[0.5, 1.0, 1.0, 1.0])];
        let figures = figures(&both, OPTIONS, &mut || ());
        let (first, second) = (figure(&figures, 0, NDCG), figure(&figures, 1, NDCG));
        assert_eq!((first.value, first.cases, first.contrast), (0.5, 4, None));
        assert!(first.low < 0.5 && 0.5 < first.high, "{first:?}");
        let contrast = second.contrast.unwrap();
        // Three of four differ, all in one direction: 2 of 8 tosses.
        assert_eq!((contrast.difference, contrast.p_value), (0.375, Some(0.25)));
    }

    #[test]
    fn cases_without_a_score_are_left_out() {
        let scores = [
            vec![vec![(NDCG, 1.0)], vec![], vec![(NDCG, 0.0)]],
            vec![vec![(NDCG, 0.5)], vec![(NDCG, 1.0)], vec![]],
        ];
        let figures = figures(&scores, OPTIONS, &mut || ());
        let second = figure(&figures, 1, NDCG);
        assert_eq!((second.value, second.cases), (0.75, 2));
        assert_eq!(second.contrast.unwrap().difference, -0.5, "only the first case is in both");
    }

    #[test]
    fn latencies_have_percentiles_too() {
        let scores = |factor: f64| -> Vec<Scores> {
            (1..=100).map(|n| vec![(LATENCY, factor * f64::from(n))]).collect()
        };
        let figures = figures(&[scores(1.0), scores(2.0)], OPTIONS, &mut || ());
        let value = |configuration, metric| figure(&figures, configuration, Measure::of(metric));
        assert_eq!(value(0, EvalMetric::LatencyMean).value, 50.5);
        assert_eq!(value(0, EvalMetric::LatencyP95).value, 95.0);
        assert_eq!(value(1, EvalMetric::LatencyP99).value, 198.0);
        let contrast = value(1, EvalMetric::LatencyP50).contrast.unwrap();
        assert_eq!((contrast.difference, contrast.p_value), (50.0, None));
        assert!(value(1, EvalMetric::LatencyMean).contrast.unwrap().p_value.unwrap() < 0.01);
    }

    #[test]
    fn the_same_scores_give_the_same_figures() {
        let scores: Vec<Scores> = (0..50).map(|n| vec![(NDCG, f64::from(n % 3))]).collect();
        let both = [scores.clone(), scores];
        assert_eq!(figures(&both, OPTIONS, &mut || ()), figures(&both, OPTIONS, &mut || ()));
        assert_eq!(
            figure(&figures(&both, OPTIONS, &mut || ()), 1, NDCG).contrast.unwrap().p_value,
            Some(1.0)
        );
    }
}
