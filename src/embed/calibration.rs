//! # calibration: what do the similarities of this model mean?
//!
//! ```text
//! pg_rag_calibration.json in a model's folder → ranges of cosines, weights of signals, thresholds
//! ```
//!
//! Cosines of one model lie between -0.1 and 0.7, those of another between 0.7 and 0.9. So what was fitted to
//! the cosines of a model is a file that belongs to it. A model without such a file is read by
//! [`Calibration::generic`], which looks only at how similarities of one question differ.
//! `cargo bench --bench fit` writes the file, `--bench reuse` its thresholds of questions, and `--bench retrieve` its
//! weights of a search.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::error::{Error, ErrorKind, Result};

/// The name of the file in a model's folder.
pub const CALIBRATION_FILE: &str = "pg_rag_calibration.json";

/// What a sentence's likely similarity is told from before it is embedded.
pub const GUESS_SIGNALS: [&str; 3] = ["passage_similarity", "held", "overlap"];

/// What a sentence is scored by before its words are compared with those of the question, and where
/// the model has no vectors for words.
pub const FIRST_LOOK_SIGNALS: [&str; 11] = [
    "similarity",
    "best_similarity",
    "passage_similarity",
    "coverage",
    "overlap",
    "about",
    "from_previous",
    "from_next",
    "closeness",
    "fit",
    "misfit",
];

/// What a sentence is scored by after that.
pub const SCORE_SIGNALS: [&str; 16] = [
    "similarity",
    "best_similarity",
    "passage_similarity",
    "coverage",
    "overlap",
    "about",
    "from_previous",
    "from_next",
    "fit",
    "misfit",
    "words_asking",
    "words_terms",
    "words_unspelled",
    "words_passage",
    "words_won",
    "words_from_previous",
];

/// What the confidence is told from without vectors of words.
pub const CONFIDENCE_SIGNALS: [&str; 5] =
    ["best", "mean", "missing_names", "missing_numbers", "kind_known"];

/// What it is told from with them.
pub const WORD_CONFIDENCE_SIGNALS: [&str; 13] = joined(
    CONFIDENCE_SIGNALS,
    [
        "elsewhere",
        "missing_terms",
        "nearest",
        "least",
        "words",
        "least_here",
        "missing_here",
        "misfit",
    ],
);

/// What a sentence is scored by that a reader has read.
pub const READER_SCORE_SIGNALS: [&str; 14] =
    joined(FIRST_LOOK_SIGNALS, ["read_evidence", "read_answer", "read_relevance"]);

/// What the confidence is told from where a reader has read.
pub const READER_CONFIDENCE_SIGNALS: [&str; 13] = joined(
    CONFIDENCE_SIGNALS,
    [
        "elsewhere",
        "missing_terms",
        "missing_here",
        "misfit",
        "read_evidence",
        "read_answer",
        "read_relevance",
        "read_best",
    ],
);

/// All of `first`, of which there is one at least, and then all of `second`: a list of signals, or of their values,
/// that begins as another one does.
///
/// Fails to compile where `N` is not the sum of the two lengths.
#[must_use]
pub const fn joined<T: Copy, const A: usize, const B: usize, const N: usize>(
    first: [T; A],
    second: [T; B],
) -> [T; N] {
    // An index beyond the end is an error of the compiler here.
    const { [(); 1][(A + B != N) as usize] };
    let mut all = [first[0]; N];
    let mut at = 1;
    while at < N {
        all[at] = if at < A { first[at] } else { second[at - A] };
        at += 1;
    }
    all
}

/// What was fitted to a model.
#[derive(Clone, Debug, PartialEq)]
pub struct Calibration {
    /// Cosines of a question with texts; `None`: to be told from those of each question.
    pub texts: Option<CosineRange>,
    /// Cosines of words; `None`: to be told from those of each question.
    pub words: Option<CosineRange>,
    /// The likely similarity of a sentence that is not embedded, by [`GUESS_SIGNALS`].
    pub guess: WeightedSum<3>,
    /// Log odds that a sentence holds the answer, by [`FIRST_LOOK_SIGNALS`].
    pub first_look: WeightedSum<11>,
    /// Log odds that a sentence whose words were compared holds the answer, by [`SCORE_SIGNALS`].
    pub score: WeightedSum<16>,
    /// How far the best sentence stands above others.
    pub gaps: ScoreGaps,
    /// Log odds that any does, by [`CONFIDENCE_SIGNALS`].
    pub confidence: WeightedSum<5>,
    /// Log odds that any does whose words were compared, by [`WORD_CONFIDENCE_SIGNALS`].
    pub word_confidence: WeightedSum<13>,
    /// What holds where the model's reader has read; `None`: it is not asked.
    pub reader: Option<ReaderWeights>,
    /// How near two questions are that mean the same; `None`: nothing was fitted, and [`QuestionThresholds::default`]
    /// holds.
    pub questions: Option<QuestionThresholds>,
    /// How much its similarities count in a search; `None`: nothing was fitted.
    pub retrieval: Option<RetrievalWeights>,
}

/// How much the similarities of a model count in a search, each from 0 to 1; `None`: what is built in holds.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct RetrievalWeights {
    /// Share of the vectors' side in the weighted sum of both sides.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub dense_weight: Option<f64>,
    /// How much it counts how close the words of the question are in a text: a share of what is built in.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub closeness: Option<f64>,
    /// Share of late interaction, by the model's vectors of tokens, in the score of what it has read.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub late_interaction_weight: Option<f64>,
}

/// Cosines of questions from which on they mean the same, as far as their words allow it.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct QuestionThresholds {
    /// Of questions in the same words.
    pub same_words: f32,
    /// Of short questions in other words; `None`: no cosine of the model tells these from others.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub other_words: Option<f32>,
}

/// What was fitted to a reader.
#[derive(Clone, Debug, PartialEq)]
pub struct ReaderWeights {
    /// Log odds that a sentence holds the answer, by [`READER_SCORE_SIGNALS`].
    pub score: WeightedSum<14>,
    /// How far the best sentence stands above others.
    pub gaps: ScoreGaps,
    /// Log odds that any does, by [`READER_CONFIDENCE_SIGNALS`].
    pub confidence: WeightedSum<13>,
}

/// Where the cosines of a model lie.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct CosineRange {
    /// Usual cosine of what has nothing in common: 0 on the common scale.
    pub unrelated: f32,
    /// Cosine that is 1 on the common scale.
    pub related: f32,
}

/// How far the score of the best sentence usually is above that of others, in log odds, whether it holds the
/// answer or not. It stands in where there are no others: the only row of a table is not more likely to
/// answer a question because none competes with it.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ScoreGaps {
    /// Above the mean of all that were read.
    pub mean: f32,
    /// Above the best one of another passage.
    pub elsewhere: f32,
}

/// A sum of `N` signals.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct WeightedSum<const N: usize> {
    /// The sum where all signals are 0.
    pub intercept: f32,
    /// How much each counts, in the order of its list of names.
    pub weights: [f32; N],
}

/// The file. Its part about a reader is a [`ReaderFile`], and is read by itself so that an error says what it is
/// about.
#[derive(Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct CalibrationFile<Part> {
    texts: Option<CosineRange>,
    words: Option<CosineRange>,
    guess: NamedWeights,
    first_look: NamedWeights,
    score: NamedWeights,
    gaps: ScoreGaps,
    confidence: NamedWeights,
    word_confidence: NamedWeights,
    #[serde(skip_serializing_if = "Option::is_none")]
    reader: Option<Part>,
    #[serde(skip_serializing_if = "Option::is_none")]
    questions: Option<QuestionThresholds>,
    #[serde(skip_serializing_if = "Option::is_none")]
    retrieval: Option<RetrievalWeights>,
}

/// The part of the file that is about a reader.
#[derive(Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct ReaderFile {
    score: NamedWeights,
    gaps: ScoreGaps,
    confidence: NamedWeights,
}

/// A sum as it is written down; what is not named weighs nothing.
#[derive(Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct NamedWeights {
    #[serde(default)]
    intercept: f32,
    weights: BTreeMap<String, f32>,
}

impl Calibration {
    /// What holds for models that nothing is known of: weights for similarities as far as they
    /// differ within a question, fitted to two models at once. It fails only where the program was built
    /// with a text that is none.
    pub fn generic() -> Result<Calibration> {
        Calibration::parse(include_str!("generic_calibration.json"))
    }

    /// Reads the text of a calibration file.
    ///
    /// Fails with [`ErrorKind::FileCorrupted`] if it is not one: if it is no such JSON, names a signal that
    /// there is none of, has a number that is not finite, a range of cosines without extent, or a threshold or a
    /// weight of a search that is not between 0 and 1.
    pub fn parse(text: &str) -> Result<Calibration> {
        let corrupted = |why: String| Error::new(ErrorKind::FileCorrupted, why);
        let file: CalibrationFile<Value> = serde_json::from_str(text)
            .map_err(|error| corrupted(format!("it is no calibration ({error})")))?;
        let calibration = Calibration {
            texts: checked_range(file.texts)?,
            words: checked_range(file.words)?,
            guess: file.guess.sum(&GUESS_SIGNALS)?,
            first_look: file.first_look.sum(&FIRST_LOOK_SIGNALS)?,
            score: file.score.sum(&SCORE_SIGNALS)?,
            gaps: checked_gaps(file.gaps)?,
            confidence: file.confidence.sum(&CONFIDENCE_SIGNALS)?,
            word_confidence: file.word_confidence.sum(&WORD_CONFIDENCE_SIGNALS)?,
            reader: file.reader.map(ReaderWeights::read).transpose()?,
            questions: checked_thresholds(file.questions)?,
            retrieval: checked_weights(file.retrieval)?,
        };
        Ok(calibration)
    }

    /// The text of a calibration file, which [`Calibration::parse`] reads. Fails with
    /// [`ErrorKind::Internal`] if it cannot be written as JSON.
    pub fn to_json(&self) -> Result<String> {
        let file = CalibrationFile {
            texts: self.texts,
            words: self.words,
            guess: NamedWeights::of(&self.guess, &GUESS_SIGNALS),
            first_look: NamedWeights::of(&self.first_look, &FIRST_LOOK_SIGNALS),
            score: NamedWeights::of(&self.score, &SCORE_SIGNALS),
            gaps: self.gaps,
            confidence: NamedWeights::of(&self.confidence, &CONFIDENCE_SIGNALS),
            word_confidence: NamedWeights::of(&self.word_confidence, &WORD_CONFIDENCE_SIGNALS),
            reader: self.reader.as_ref().map(ReaderWeights::file),
            questions: self.questions,
            retrieval: self.retrieval,
        };
        let text = serde_json::to_string_pretty(&file)
            .map_err(|error| Error::new(ErrorKind::Internal, error.to_string()))?;
        Ok(text + "\n")
    }
}

impl Default for QuestionThresholds {
    /// Those of models that nothing is known of.
    fn default() -> QuestionThresholds {
        QuestionThresholds { same_words: 0.98, other_words: None }
    }
}

impl QuestionThresholds {
    /// Those with another one for questions in the same words. It makes that for other words stricter, but never less
    /// strict.
    #[must_use]
    pub fn with(self, same_words: f32) -> QuestionThresholds {
        let other_words = self.other_words.map(|it| it.max(same_words));
        QuestionThresholds { same_words, other_words }
    }

    /// The least cosine of two questions of which anything is allowed.
    #[must_use]
    pub fn least(&self) -> f32 {
        self.other_words.map_or(self.same_words, |it| it.min(self.same_words))
    }
}

impl CosineRange {
    /// A cosine on the common scale; neither end of it is a limit.
    #[must_use]
    pub fn scaled(&self, cosine: f32) -> f32 {
        (cosine - self.unrelated) / (self.related - self.unrelated)
    }
}

impl<const N: usize> WeightedSum<N> {
    /// The sum for these signals.
    #[must_use]
    pub fn of(&self, signals: &[f32; N]) -> f32 {
        let terms = self.weights.iter().zip(signals);
        self.intercept + terms.map(|(weight, signal)| weight * signal).sum::<f32>()
    }
}

impl ReaderWeights {
    /// What the part `reader` of a calibration file says.
    fn read(part: Value) -> Result<ReaderWeights> {
        let about = |why: &str| {
            Error::new(ErrorKind::FileCorrupted, format!("its part \"reader\" is damaged: {why}"))
        };
        let file: ReaderFile =
            serde_json::from_value(part).map_err(|error| about(&error.to_string()))?;
        file.weights().map_err(|error| about(error.message()))
    }

    fn file(&self) -> ReaderFile {
        ReaderFile {
            score: NamedWeights::of(&self.score, &READER_SCORE_SIGNALS),
            gaps: self.gaps,
            confidence: NamedWeights::of(&self.confidence, &READER_CONFIDENCE_SIGNALS),
        }
    }
}

impl ReaderFile {
    fn weights(&self) -> Result<ReaderWeights> {
        Ok(ReaderWeights {
            score: self.score.sum(&READER_SCORE_SIGNALS)?,
            gaps: checked_gaps(self.gaps)?,
            confidence: self.confidence.sum(&READER_CONFIDENCE_SIGNALS)?,
        })
    }
}

impl NamedWeights {
    fn of<const N: usize>(sum: &WeightedSum<N>, names: &[&str; N]) -> NamedWeights {
        let weights = names.iter().zip(sum.weights);
        let weights = weights.filter(|(_, weight)| *weight != 0.0);
        NamedWeights {
            intercept: sum.intercept,
            weights: weights.map(|(name, weight)| (name.to_string(), weight)).collect(),
        }
    }

    fn sum<const N: usize>(&self, names: &[&str; N]) -> Result<WeightedSum<N>> {
        let corrupted = |why: String| Error::new(ErrorKind::FileCorrupted, why);
        if let Some(name) = self.weights.keys().find(|name| !names.contains(&name.as_str())) {
            let why = format!("there is no signal \"{name}\"");
            return Err(corrupted(why).hint(format!("There are {}.", names.join(", "))));
        }
        let weights = names.map(|name| self.weights.get(name).copied().unwrap_or(0.0));
        match weights.iter().chain([&self.intercept]).all(|number| number.is_finite()) {
            true => Ok(WeightedSum { intercept: self.intercept, weights }),
            false => Err(corrupted("a weight is not finite".to_owned())),
        }
    }
}

fn checked_range(range: Option<CosineRange>) -> Result<Option<CosineRange>> {
    match range {
        Some(it) if !(it.scaled(0.0).is_finite() && it.scaled(1.0).is_finite()) => {
            let why = format!("cosines range from {} to {}", it.unrelated, it.related);
            Err(Error::new(ErrorKind::FileCorrupted, why))
        }
        range => Ok(range),
    }
}

fn checked_thresholds(
    thresholds: Option<QuestionThresholds>,
) -> Result<Option<QuestionThresholds>> {
    let all = thresholds.iter().flat_map(|it| [Some(it.same_words), it.other_words]);
    match all.flatten().find(|it| !(0.0..=1.0).contains(it)) {
        None => Ok(thresholds),
        Some(other) => {
            let why = format!("questions have a cosine of at least {other}");
            Err(Error::new(ErrorKind::FileCorrupted, why))
        }
    }
}

fn checked_weights(weights: Option<RetrievalWeights>) -> Result<Option<RetrievalWeights>> {
    let named = weights.iter().flat_map(|it| {
        [
            ("dense_weight", it.dense_weight),
            ("closeness", it.closeness),
            ("late_interaction_weight", it.late_interaction_weight),
        ]
    });
    let mut all = named.filter_map(|(name, weight)| Some((name, weight?)));
    match all.find(|(_, weight)| !(0.0..=1.0).contains(weight)) {
        None => Ok(weights),
        Some((name, weight)) => {
            let why = format!("{name} of its part \"retrieval\" is {weight}, not between 0 and 1");
            Err(Error::new(ErrorKind::FileCorrupted, why))
        }
    }
}

fn checked_gaps(gaps: ScoreGaps) -> Result<ScoreGaps> {
    match gaps.mean.is_finite() && gaps.elsewhere.is_finite() {
        true => Ok(gaps),
        false => Err(Error::new(ErrorKind::FileCorrupted, "a gap is not finite")),
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn what_is_written_is_read() {
        let generic = Calibration::generic().unwrap();
        assert_eq!(Calibration::parse(&generic.to_json().unwrap()).unwrap(), generic);
        assert_eq!((generic.texts, generic.words), (None, None));
    }

    #[test]
    fn lists_that_begin_alike_go_on_with_their_own() {
        assert_eq!(READER_SCORE_SIGNALS[..11], FIRST_LOOK_SIGNALS);
        assert_eq!(READER_SCORE_SIGNALS[11..], ["read_evidence", "read_answer", "read_relevance"]);
        assert_eq!(WORD_CONFIDENCE_SIGNALS[..5], READER_CONFIDENCE_SIGNALS[..5]);
        assert_eq!(
            (WORD_CONFIDENCE_SIGNALS[5], READER_CONFIDENCE_SIGNALS[12]),
            ("elsewhere", "read_best")
        );
    }

    /// The calibration of a model with a reader, with its part about the reader as `change` leaves it.
    fn with_reader(change: impl Fn(&mut Value)) -> Result<Calibration> {
        let text = include_str!("../../scripts/calibration/multilingual-e5-small.json");
        let mut file: Value = serde_json::from_str(text).unwrap();
        change(&mut file["reader"]);
        Calibration::parse(&file.to_string())
    }

    /// The generic calibration, with a part called `name`.
    fn with_part(name: &str, part: Value) -> Result<Calibration> {
        let mut file: Value =
            serde_json::from_str(include_str!("generic_calibration.json")).unwrap();
        file[name] = part;
        Calibration::parse(&file.to_string())
    }

    /// The generic calibration, with thresholds of questions that `text` says.
    fn with_questions(text: Value) -> Result<Calibration> {
        with_part("questions", text)
    }

    #[test]
    fn a_calibration_may_have_weights_of_a_search() {
        assert_eq!(Calibration::generic().unwrap().retrieval, None);
        let weights = RetrievalWeights { dense_weight: Some(0.5), ..Default::default() };
        let all = RetrievalWeights {
            dense_weight: Some(0.0),
            closeness: Some(1.0),
            late_interaction_weight: Some(0.25),
        };
        for (text, expected) in [
            (json!({}), RetrievalWeights::default()),
            (json!({"dense_weight": 0.5}), weights),
            (json!({"dense_weight": 0, "closeness": 1, "late_interaction_weight": 0.25}), all),
        ] {
            let calibration = with_part("retrieval", text).unwrap();
            assert_eq!(calibration.retrieval, Some(expected));
            let written = calibration.to_json().unwrap();
            assert_eq!(Calibration::parse(&written).unwrap(), calibration);
        }
    }

    #[test]
    fn weights_of_a_search_out_of_their_range_are_named() {
        for (name, weight) in
            [("dense_weight", 1.5), ("closeness", -0.5), ("late_interaction_weight", 7.5)]
        {
            let error = with_part("retrieval", json!({name: weight})).unwrap_err();
            assert_eq!(error.kind(), ErrorKind::FileCorrupted);
            let expected =
                format!("{name} of its part \"retrieval\" is {weight}, not between 0 and 1");
            assert_eq!(error.message(), expected);
        }
        for text in [json!({"dense": 0.5}), json!({"closeness": true}), json!(0.5)] {
            let error = with_part("retrieval", text).unwrap_err();
            assert_eq!(error.kind(), ErrorKind::FileCorrupted);
            assert!(error.message().starts_with("it is no calibration"), "{error}");
        }
    }

    #[test]
    fn a_calibration_may_have_thresholds_of_questions() {
        assert_eq!(Calibration::generic().unwrap().questions, None);
        for (text, same_words, other_words) in [
            (json!({"same_words": 0.75}), 0.75, None),
            (json!({"same_words": 0.75, "other_words": 0.875}), 0.75, Some(0.875)),
        ] {
            let calibration = with_questions(text).unwrap();
            let expected = QuestionThresholds { same_words, other_words };
            assert_eq!(calibration.questions, Some(expected));
            let written = calibration.to_json().unwrap();
            assert_eq!(Calibration::parse(&written).unwrap(), calibration);
        }
        for text in [json!({"same_words": 1.5}), json!({"same_words": 0.9, "other_words": -0.5})] {
            let error = with_questions(text).unwrap_err();
            assert!(error.message().starts_with("questions have a cosine of at least"), "{error}");
        }
        for text in [json!({}), json!({"same_words": 0.9, "words": 1}), json!(0.9)] {
            assert_eq!(with_questions(text).unwrap_err().kind(), ErrorKind::FileCorrupted);
        }
    }

    #[test]
    fn a_threshold_of_a_caller_makes_that_of_other_words_only_stricter() {
        let fitted = QuestionThresholds { same_words: 0.75, other_words: Some(0.875) };
        for (same_words, other_words, least) in [(0.5, 0.875, 0.5), (0.9375, 0.9375, 0.9375)] {
            let thresholds = fitted.with(same_words);
            assert_eq!(
                thresholds,
                QuestionThresholds { same_words, other_words: Some(other_words) }
            );
            assert_eq!(thresholds.least(), least);
        }
        let unknown = QuestionThresholds::default();
        assert_eq!((unknown.with(0.5).other_words, unknown.least()), (None, 0.98));
    }

    #[test]
    fn a_calibration_may_be_about_a_reader() {
        let calibration = with_reader(|_| ()).unwrap();
        assert!(calibration.reader.is_some());
        assert_eq!(Calibration::parse(&calibration.to_json().unwrap()).unwrap(), calibration);
        assert_eq!(with_reader(|it| *it = Value::Null).unwrap().reader, None);
    }

    #[test]
    fn a_damaged_part_about_a_reader_is_named() {
        let check = |change: &dyn Fn(&mut Value), expected: &str| {
            let error = with_reader(change).unwrap_err();
            assert_eq!(error.kind(), ErrorKind::FileCorrupted);
            let expected = format!("its part \"reader\" is damaged: {expected}");
            assert!(error.message().starts_with(&expected), "{error}");
        };
        let without = |key: &'static str| {
            move |part: &mut Value| drop(part.as_object_mut().unwrap().remove(key))
        };
        for key in ["score", "gaps", "confidence"] {
            check(&without(key), &format!("missing field `{key}`"));
        }
        check(&|it| it["scores"] = json!({}), "unknown field `scores`");
        check(&|it| *it = json!(7), "invalid type: integer `7`");
        check(&|it| it["gaps"] = json!([1]), "invalid length 1");
        check(&|it| it["gaps"]["mean"] = json!("far"), "invalid type: string");
        check(&|it| it["gaps"]["mean"] = json!(1e99), "a gap is not finite");
        // NaN is no number of JSON, and what stands for it is null.
        check(&|it| it["gaps"]["elsewhere"] = json!(f32::NAN), "invalid type: null");
        check(&|it| it["score"] = json!("high"), "invalid type: string");
        check(&|it| it["score"]["weights"] = json!([0.5, 0.5]), "invalid type: sequence");
        check(&|it| it["score"]["intercept"] = json!(f32::NAN), "invalid type: null");
        check(&|it| it["score"]["weights"]["fit"] = json!(-1e99), "a weight is not finite");
        check(&|it| it["confidence"]["weights"]["fit"] = json!(1), "there is no signal \"fit\"");
    }

    #[test]
    fn cosines_get_a_common_scale() {
        let range = CosineRange { unrelated: 0.7, related: 0.9 };
        assert!((range.scaled(0.8) - 0.5).abs() < 1e-5 && range.scaled(0.6) < 0.0);
    }

    #[test]
    fn what_is_no_calibration_is_refused() {
        let good = Calibration::generic().unwrap().to_json().unwrap();
        let check = |from: &str, to: &str, expected: &str| {
            let text = good.replacen(from, to, 1);
            assert_ne!(text, good, "{from} is not there");
            let error = Calibration::parse(&text).unwrap_err();
            assert_eq!(error.kind(), ErrorKind::FileCorrupted);
            assert!(error.message().contains(expected), "{error}");
        };
        check("{", "", "it is no calibration");
        check("\"overlap\"", "\"overlaps\"", "there is no signal \"overlaps\"");
        check("\"guess\"", "\"guesses\"", "it is no calibration");
        check("\"intercept\": ", "\"intercept\": 1e99, \"x\": ", "it is no calibration");
        check("null", r#"{"unrelated": 0.5, "related": 0.5}"#, "cosines range from 0.5 to 0.5");
    }
}
