//! # What do the similarities of this model mean?
//!
//! ```text
//! cargo bench --bench fit -- [--out FILE] [--from FILE] [--with FOLDER] [--questions N] [--sure X]
//!     [--report | --confidence | --reader] [SET ...]
//! ```
//!
//! Fits the constants of the built-in answerer to a model: the calibration file of its folder. To half of
//! the questions of judged sets, told by a hash of their id, and none of the other half, of which
//! it reports what the answers are like with the new constants, set by set. A set is a folder of judged data; the
//! default is one of each kind in each language.
//!
//! 1. Cosines of unrelated and of related texts and words give their ranges.
//! 2. Each question is asked as by `--bench answer`. Weights of the score are those of a conditional logit
//!    model: which of these sentences holds the answer?
//! 3. Once more with these weights, for those of the confidence: a logistic model of whether the passage
//!    was there, among six and alone. Its intercept is then set so that the default threshold refuses a twentieth of the answerable
//!    questions.
//!
//! The model is `$PG_RAG_MODEL`. `--with` names the folder of a second one and fits a calibration for both and
//! any other model, without ranges of cosines. Constants are fitted to what a reader says of all passages that it may read;
//! `--sure` says with which log odds it is sure of a piece in the answers that are reported, `inf` for never.
//! `--from` starts from a file and not from the model's own, `--out` writes the result, `--confidence` fits the confidence alone, `--report` nothing. `--reader` fits the weights of
//! the model's reader alone, to articles that it was not trained on (scripts/reader/prepare.py).

#[path = "../answer/data.rs"]
#[allow(dead_code)]
mod data;
#[path = "../answer/embedder.rs"]
#[allow(dead_code)]
mod embedder;
#[path = "../support/invocation.rs"]
#[allow(dead_code)]
mod invocation;
mod logit;
mod observe;
#[path = "../../tests/support/ragd.rs"]
#[allow(dead_code)]
mod ragd;
mod range;
mod report;
#[path = "../answer/search.rs"]
mod search;
mod steps;

use std::path::PathBuf;

use invocation::settings_or_exit;
use lexopt::prelude::*;
use pg_rag::extract::ExtractOptions;
use pg_rag::protocol::ModelRef;

/// The judged sets, as scripts/reader/prepare.py reads them: what a reader is trained on must not be what its weights
/// are fitted to.
const SETS: &str = include_str!("../../scripts/reader/sets.json");

/// What to fit.
struct Settings {
    sets: Vec<String>,
    file: String,
    out: Option<PathBuf>,
    from: Option<PathBuf>,
    with: Option<PathBuf>,
    questions: usize,
    fits: bool,
    keeps_scores: bool,
    of_reader: bool,
    answers: ExtractOptions,
}

fn main() {
    let settings = settings_or_exit(Settings::parse(), None);
    let Some((installed, ragd)) = embedder::start_to_measure() else { return };
    let own = installed.model(&settings.file);
    let other = settings.with.as_ref().map(|folder| ModelRef {
        path: folder.to_str().expect("a path in UTF-8").to_owned(),
        ..own.clone()
    });
    let mut models = Vec::new();
    for model in [Some(own), other].into_iter().flatten() {
        let mut embedder = embedder::Remembering::new(&ragd, model);
        if let Some(from) = &settings.from {
            embedder.calibration = embedder::calibration_from(from);
        }
        let sets = observe::load(&settings.sets, settings.questions, &mut embedder);
        models.push(observe::Model { embedder, sets });
    }
    if settings.fits {
        let present = models[0].embedder.calibration.clone();
        let calibration = match settings.of_reader {
            true => steps::fit_reader(&mut models, present),
            false => {
                let scores = match settings.keeps_scores {
                    true => present,
                    false => steps::fit_scores(&mut models, settings.with.is_some()),
                };
                steps::fit_confidence(&mut models, scores)
            }
        };
        for model in &mut models {
            model.embedder.calibration = calibration.clone();
        }
        if let Some(out) = &settings.out {
            std::fs::write(out, calibration.to_json().unwrap())
                .expect("the calibration is written");
        }
    }
    for model in &mut models {
        report::print(model, &settings.answers);
    }
}

impl Settings {
    fn parse() -> Result<Settings, lexopt::Error> {
        let mut settings = Settings {
            sets: Vec::new(),
            file: "onnx/model_int8.onnx".to_string(),
            out: None,
            from: None,
            with: None,
            questions: usize::MAX,
            fits: true,
            keeps_scores: false,
            of_reader: false,
            answers: ExtractOptions::default(),
        };
        let mut parser = lexopt::Parser::from_env();
        while let Some(argument) = parser.next()? {
            match argument {
                Long("file") => settings.file = parser.value()?.parse()?,
                Long("out") => settings.out = Some(parser.value()?.into()),
                Long("from") => settings.from = Some(parser.value()?.into()),
                Long("with") => settings.with = Some(parser.value()?.into()),
                Long("questions") => settings.questions = parser.value()?.parse()?,
                Long("sure") => settings.answers.sure = parser.value()?.parse()?,
                Long("report") => settings.fits = false,
                Long("confidence") => settings.keeps_scores = true,
                Long("reader") => settings.of_reader = true,
                Value(set) => settings.sets.push(set.string()?),
                // What cargo bench passes on to every benchmark.
                Long("bench") => {}
                other => return Err(other.unexpected()),
            }
        }
        if settings.sets.is_empty() {
            settings.sets = fitted();
        }
        Ok(settings)
    }
}

/// The sets that are fitted to.
fn fitted() -> Vec<String> {
    let sets: serde_json::Value = serde_json::from_str(SETS).expect("sets.json is JSON");
    assert_eq!(sets["sample"], data::SAMPLE);
    assert_eq!(sets["whole"], serde_json::json!(data::WHOLE));
    assert_eq!(sets["halved"], serde_json::json!(data::HALVED));
    let of = |kind: &str| sets[kind].as_array().expect("a list of sets");
    let names = [&sets["sample"]].into_iter().chain(of("weighed"));
    let names = names.chain(of("whole")).chain(of("halved"));
    names.filter_map(|name| name.as_str().map(str::to_owned)).collect()
}
