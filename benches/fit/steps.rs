//! What is fitted, one thing after the other.

use pg_rag::embed::calibration::{
    Calibration, READER_SCORE_SIGNALS, ReaderWeights, ScoreGaps, WeightedSum,
};
use pg_rag::extract::{ExtractObservation, ExtractOptions, ObservedPiece};

use crate::logit::{Case, Choice, fit_cases, fit_choices, fit_values};
use crate::observe::{Model, Observed};
use crate::range;

/// Part of the answerable questions that the default threshold is to refuse.
const REFUSED: f32 = 0.05;

/// Times that scores are fitted: with better weights other sentences are read.
const ROUNDS: usize = 2;

/// How much a question counts whose passage does not hold its answer, beside one whose passage was
/// taken away.
const ADVERSARIAL: f64 = 0.5;

/// How much a passage counts that is read alone.
const ALONE: f64 = 0.5;

/// Fits ranges of cosines and the weights of scores to the models; a generic calibration has no ranges.
pub fn fit_scores(models: &mut [Model], is_generic: bool) -> Calibration {
    let mut calibration = models[0].embedder.calibration.clone();
    calibration.texts = (!is_generic).then(|| range::texts(models));
    calibration.words = (!is_generic).then(|| range::words(models));
    eprintln!("texts {:?}, words {:?}", calibration.texts, calibration.words);
    for _ in 0..ROUNDS {
        let observed = observe(models, &calibration, false);
        calibration.guess = guess(&observed);
        calibration.first_look.weights = choose(&observed, |it| Some(it.first_look));
        calibration.score.weights = choose(&observed, |it| it.score);
    }
    calibration
}

/// Fits the confidence to the models, whose scores are those of `calibration`.
pub fn fit_confidence(models: &mut [Model], mut calibration: Calibration) -> Calibration {
    calibration.gaps = gaps(&observe(models, &calibration, false), |it| it.word_confidence);
    eprintln!("{:?}", calibration.gaps);
    let observed = observe(models, &calibration, false);
    calibration.word_confidence = confidence(&observed, |it| it.word_confidence);
    let observed = observe(models, &calibration, true);
    calibration.confidence = confidence(&observed, |it| Some(it.confidence));
    calibration
}

/// Fits the weights of what the model's reader says, beside what else is known of a passage.
pub fn fit_reader(models: &mut [Model], mut calibration: Calibration) -> Calibration {
    let evidence = READER_SCORE_SIGNALS.iter().position(|it| *it == "read_evidence");
    let mut score = WeightedSum { intercept: 0.0, weights: [0.0; 14] };
    evidence.into_iter().for_each(|at| score.weights[at] = 1.0);
    let none = WeightedSum { intercept: 0.0, weights: [0.0; 13] };
    let mut reader = ReaderWeights { score, gaps: calibration.gaps, confidence: none };
    for step in 0..3 {
        calibration.reader = Some(reader.clone());
        let observed = observe(models, &calibration, false);
        match step {
            0 => reader.score.weights = choose(&observed, |it| it.reader_score),
            1 => reader.gaps = gaps(&observed, |it| it.reader_confidence),
            _ => reader.confidence = confidence(&observed, |it| it.reader_confidence),
        }
    }
    calibration.reader = Some(reader);
    calibration
}

/// The mean over questions with and without their passage.
fn gaps(
    observed: &[Vec<Observed>],
    signals: fn(&ExtractObservation) -> Option<[f32; 13]>,
) -> ScoreGaps {
    let all = observed.iter().flatten().flat_map(|it| it.with.iter().chain(&it.without));
    let all: Vec<[f32; 13]> = all.filter_map(signals).collect();
    let mean = |gap: fn(&[f32; 13]) -> f32| {
        all.iter().map(gap).map(f64::from).sum::<f64>() / all.len().max(1) as f64
    };
    let [mean, elsewhere] = [mean(|it| it[0] - it[1]), mean(|it| it[0] - it[5])];
    let rounded = |gap: f64| (gap * 10.0).round() as f32 / 10.0;
    ScoreGaps { mean: rounded(mean), elsewhere: rounded(elsewhere) }
}

/// Observes the half that is fitted to, set by set.
fn observe(models: &mut [Model], calibration: &Calibration, is_whole: bool) -> Vec<Vec<Observed>> {
    let of_model = |model: &mut Model| {
        let Model { embedder, sets } = model;
        embedder.calibration = calibration.clone();
        embedder.is_whole = is_whole;
        let observed: Vec<_> = sets.iter().map(|set| set.observe(embedder)).collect();
        embedder.is_whole = false;
        observed
    };
    models.iter_mut().flat_map(of_model).collect()
}

fn guess(observed: &[Vec<Observed>]) -> WeightedSum<3> {
    let pieces = observed.iter().flatten().filter_map(|it| it.with.as_ref());
    let pieces = pieces.flat_map(|it| &it.pieces);
    let cases: Vec<_> = pieces.filter_map(|it| Some((it.guess, it.similarity?))).collect();
    let (intercept, weights) = fit_values(&cases);
    WeightedSum { intercept, weights }
}

fn choose<const N: usize>(
    observed: &[Vec<Observed>],
    signals: impl Fn(&ObservedPiece) -> Option<[f32; N]>,
) -> [f32; N] {
    let choice = |it: &Observed| {
        let pieces = it.with.as_ref()?.pieces.iter().zip(&it.is_right);
        let read = pieces.filter_map(|(piece, is_right)| Some((signals(piece)?, *is_right)));
        let (signals, is_right): (Vec<_>, Vec<_>) = read.unzip();
        let is_told = is_right.contains(&true) && is_right.contains(&false);
        (it.is_answerable && is_told).then_some(Choice { signals, is_right, weight: 1.0 })
    };
    let choices: Vec<Choice<N>> = observed.iter().flatten().filter_map(choice).collect();
    fit_choices(&choices)
}

/// Each set counts alike, so that a language with few questions is no exception.
fn confidence<const N: usize>(
    observed: &[Vec<Observed>],
    signals: impl Fn(&ExtractObservation) -> Option<[f32; N]>,
) -> WeightedSum<N> {
    let (mut cases, mut of_one) = (Vec::new(), Vec::new());
    for set in observed {
        let weight = 1.0 / set.len().max(1) as f64;
        for it in set {
            let with = it.with.as_ref().and_then(&signals);
            let without = it.without.as_ref().and_then(&signals);
            let counts = if it.is_answerable { weight } else { weight * ADVERSARIAL };
            let is_so = it.is_answerable;
            cases.extend(with.map(|signals| Case { signals, is_so, weight: counts }));
            cases.extend(without.map(|signals| Case { signals, is_so: false, weight }));
            let alone = it.alone.iter().filter_map(|(it, is_so)| Some((signals(it)?, *is_so)));
            let weight = weight * ALONE;
            of_one.extend(alone.map(|(signals, is_so)| Case { signals, is_so, weight }));
        }
    }
    let all: Vec<Case<N>> = cases.iter().chain(&of_one).cloned().collect();
    let (_, weights) = fit_cases(&all);
    let sum = WeightedSum { intercept: 0.0, weights };
    WeightedSum { intercept: intercept(&cases, &sum), ..sum }
}

/// The one with which the default threshold refuses [`REFUSED`] of the answerable.
fn intercept<const N: usize>(cases: &[Case<N>], sum: &WeightedSum<N>) -> f32 {
    let answerable = cases.iter().filter(|case| case.is_so);
    let mut odds: Vec<(f32, f64)> =
        answerable.map(|case| (sum.of(&case.signals), case.weight)).collect();
    odds.sort_by(|a, b| a.0.total_cmp(&b.0));
    let whole: f64 = odds.iter().map(|it| it.1).sum();
    let mut below = 0.0;
    let least = odds.iter().find(|it| {
        below += it.1;
        below > whole * f64::from(REFUSED)
    });
    let threshold = ExtractOptions::default().threshold;
    (threshold / (1.0 - threshold)).ln() - least.map_or(0.0, |it| it.0)
}
