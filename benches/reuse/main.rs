//! # When do two questions mean the same?
//!
//! ```text
//! cargo bench --bench reuse -- [--file FILE] [--from FILE] [--out FILE] [--missed]
//! ```
//!
//! `pairs.jsonl` has pairs of questions in fourteen languages, made up as users would type them. Those that are `same`
//! are put in other words, in another order, as keywords, politely or with a slip; those that are not differ in the
//! one word that matters. Nothing is fitted to those that are `held_out`, and no rule was written with them in view.
//!
//! Printed is, for each half and from several cosines on, how many of the answers that are reused are right (precision)
//! and of how many pairs that mean the same one is reused (recall): by the cosine alone, by the baseline of
//! `baseline.rs`, and by each [`QuestionLikeness`]. Then the thresholds are chosen: of each likeness the smallest
//! cosine from which on the precision of the half that is fitted to is 0.99, with a step to spare, since the nearest pair
//! of other questions says little of where the next one is.
//!
//! `--from` starts from a calibration file and not from the model's own, and `--out` writes it with these
//! thresholds. `--missed` prints the pairs that mean the same and are taken for different ones. The model is
//! `$PG_RAG_MODEL` (default `~/.cache/pg_rag/models/multilingual-e5-small`) with the graph `--file`.

mod baseline;
#[path = "../answer/embedder.rs"]
#[allow(dead_code)]
mod embedder;
mod figures;
#[path = "../support/invocation.rs"]
#[allow(dead_code)]
mod invocation;
mod pairs;
#[path = "../../tests/support/ragd.rs"]
#[allow(dead_code)]
mod ragd;
mod thresholds;

use std::path::PathBuf;

use embedder::{Remembering, calibration_from, start_to_measure};
use invocation::settings_or_exit;
use lexopt::prelude::*;
use pairs::{JudgedPair, MeasuredPair};
use pg_rag::answer::reuse::QuestionLikeness;
use pg_rag::embed::EmbeddingKind;
use pg_rag::embed::calibration::{Calibration, QuestionThresholds};
use pg_rag::protocol::Lane;

/// What to measure.
struct Settings {
    file: String,
    from: Option<PathBuf>,
    out: Option<PathBuf>,
    prints_missed: bool,
}

fn main() {
    let settings = settings_or_exit(Settings::parse(), None);
    let Some((installed, ragd)) = start_to_measure() else { return };
    let mut embedder = Remembering::new(&ragd, installed.model(&settings.file));
    if let Some(from) = &settings.from {
        embedder.calibration = calibration_from(from);
    }
    let pairs = JudgedPair::all();
    let texts: Vec<String> = pairs.iter().flat_map(|it| it.texts().map(str::to_owned)).collect();
    embedder.load(&texts, EmbeddingKind::Query, Lane::Bulk);
    let measured: Vec<MeasuredPair> =
        pairs.into_iter().map(|it| MeasuredPair::new(it, &embedder)).collect();
    figures::print_size(&measured);
    figures::print_by_cosine(&measured);

    let present = embedder.calibration.questions.unwrap_or_default();
    let chosen = chosen(&measured);
    println!("\nthresholds: of the calibration {present:?}");
    println!("            chosen {chosen:?}");
    figures::print_rules(&measured, &chosen);
    figures::print_languages(&measured, &chosen);
    figures::print_wrong(&measured, &chosen);
    if settings.prints_missed {
        figures::print_missed(&measured, &chosen);
    }
    figures::print_time(&measured);
    if let Some(out) = &settings.out {
        let calibration = Calibration { questions: Some(chosen), ..embedder.calibration.clone() };
        let text = calibration.to_json().expect("a calibration can be written");
        std::fs::write(out, text).expect("the calibration is written");
    }
}

/// The thresholds for what is fitted to of `measured`. A model that no cosine of the same words suffices for has the
/// usual one.
fn chosen(measured: &[MeasuredPair]) -> QuestionThresholds {
    let of = |likeness: QuestionLikeness| {
        let fitted = measured.iter().filter(|it| !it.pair.held_out && it.likeness == likeness);
        thresholds::least(&fitted.collect::<Vec<&MeasuredPair>>())
    };
    let same_words = of(QuestionLikeness::SameWords);
    QuestionThresholds {
        same_words: same_words.unwrap_or(QuestionThresholds::default().same_words),
        other_words: of(QuestionLikeness::OtherWords),
    }
}

impl Settings {
    fn parse() -> Result<Settings, lexopt::Error> {
        let mut settings = Settings {
            file: "onnx/model_int8.onnx".to_string(),
            from: None,
            out: None,
            prints_missed: false,
        };
        let mut parser = lexopt::Parser::from_env();
        while let Some(argument) = parser.next()? {
            match argument {
                Long("file") => settings.file = parser.value()?.parse()?,
                Long("from") => settings.from = Some(parser.value()?.into()),
                Long("out") => settings.out = Some(parser.value()?.into()),
                Long("missed") => settings.prints_missed = true,
                // What cargo bench passes on to every benchmark.
                Long("bench") => {}
                other => return Err(other.unexpected()),
            }
        }
        Ok(settings)
    }
}
