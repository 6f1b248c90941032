//! # Does the built-in answerer find the answer, and does it know when there is none?
//!
//! ```text
//! cargo bench --bench answer -- [SET ...] [--file FILE] [--k N] [--questions N]
//!                               [--sentences N] [--margin X] [--close X] [--embedded N] [--read N]
//!                               [--sure X] [--all]
//! cargo bench --bench answer -- --manual [--pages FOLDER --ask FILE] [--pieces N]
//! cargo bench --bench answer -- --manuals FOLDER
//! ```
//!
//! A set is a folder of judged data (default `squad_train_sample`; `xquad/en` and the like
//! fit too, and `squad2_half` with questions whose passage doesn't hold the answer). Each question is asked twice: of the whole collection, and of the same collection
//! without the passages that answer it. Retrieval is that of the product, but in memory and with
//! words cut to six letters in the place of stems.
//!
//! The set `xquad/de:en` asks the questions of `xquad/de` about the passages of `xquad/en`; an answer is right if it
//! holds one of the answers there. Any two folders beside one another whose questions have the same ids can be combined
//! so. In bash, `xquad/{en,de,ar,ru}:zh xquad/zh:{en,de,ar,ru}` are all pairs with Chinese.
//!
//! What confidence is worth is printed as tables in Markdown for each set and, where there are several, for all
//! together (`reliability.rs`): how many of the questions with like confidence can be answered, how many of the answers
//! are right, and what a `min_confidence` refuses.
//!
//! Half of the questions, told by a hash of their id, and those of articles that the reader was trained on, are left
//! out unless `--all` says
//! otherwise: `cargo bench --bench fit` fits constants to them. Of the sets `forms` and `tables`, half of the documents are left out, and the
//! answers are printed and counted by form and by language (`make bench-forms`). Vectors are kept beside the folder of models,
//! so that the next run takes seconds.
//!
//! `--sure` says with which log odds the reader is sure of a piece and reads nothing that would not add to it, `inf` for never.
//!
//! `--manual` asks the questions of `manual.txt` about the pages in `docs/` and prints the answers. Every second
//! question is kept: no constant was fitted to it. With `--pages` and `--ask` it asks the questions in a file, one a line, about
//! the Markdown or HTML in a folder; `--pieces` shows the best pieces of each with their scores and what the reader says.
//!
//! `--manuals` asks those of `manuals.jsonl` about manuals of other programs, in seven languages (`make bench-manuals`).
//!
//! The model is `$PG_RAG_MODEL` (default `~/.cache/pg_rag/models/multilingual-e5-small`), the data
//! `$PG_RAG_DATA` (default `../shared/data`). Where one is missing, that is said and no more.

mod ask;
mod data;
mod embedder;
mod figures;
mod forms;
#[path = "../support/invocation.rs"]
#[allow(dead_code)]
mod invocation;
mod manual;
mod manuals;
mod outcomes;
mod pages;
#[path = "../../tests/support/ragd.rs"]
#[allow(dead_code)]
mod ragd;
mod reliability;
mod search;

use std::path::{Path, PathBuf};

use invocation::settings_or_exit;
use lexopt::prelude::*;
use manual::Manual;
use pg_rag::extract::ExtractOptions;
use reliability::JudgedAnswer;

/// What to measure.
pub struct Settings {
    sets: Vec<String>,
    manual: Option<Manual>,
    manuals: Option<PathBuf>,
    file: String,
    /// Passages that are read for an answer.
    pub k: usize,
    /// Most questions of a set.
    pub questions: usize,
    /// Which of them.
    pub half: data::Half,
    /// How answers are made.
    pub extract: ExtractOptions,
}

fn main() {
    let settings = settings_or_exit(Settings::parse(), None);
    let Some((installed, ragd)) = embedder::start_to_measure() else { return };
    if settings.manual.is_some() || settings.manuals.is_some() {
        let mut embedder = embedder::Remembering::new(&ragd, installed.model(&settings.file));
        let path = installed.model(&settings.file).path;
        let model = Path::new(&path);
        if let Some(manual) = &settings.manual {
            manual::ask_all(model, manual, &settings, &mut embedder);
        }
        if let Some(folder) = &settings.manuals {
            manuals::ask_all(model, folder, &settings, &mut embedder);
        }
        return;
    }
    let mut measured = Vec::new();
    for name in &settings.sets {
        let Some(set) = data::Set::read(name, settings.half, settings.questions) else {
            println!("skipped: no judged data \"{name}\"; set PG_RAG_DATA");
            continue;
        };
        println!("\n{name}: {} questions, {} passages", set.questions.len(), set.passages.len());
        if set.questions.is_empty() {
            println!("skipped: this half has no questions; --all asks those of both");
            continue;
        }
        println!("model {}, top {} passages", settings.file, settings.k);
        let embedder = embedder::Remembering::new(&ragd, installed.model(&settings.file));
        if name == data::SAMPLE && embedder.calibration.reader.is_some() {
            println!(
                "the reader was trained on these questions: xquad/en and the like have others"
            );
        }
        measured.push(measure(name, &set, &settings, embedder));
    }
    if measured.len() > 1 {
        reliability::print("all sets", &measured.concat());
    }
}

/// Asks the questions of a set, prints what the answers are like and what they cost, and judges them.
fn measure(
    name: &str,
    set: &data::Set,
    settings: &Settings,
    mut embedder: embedder::Remembering,
) -> Vec<JudgedAnswer> {
    let asked = ask::ask_all(set, settings, &mut embedder);
    let others = ask::adversarial(set, settings, &mut embedder);
    figures::quality(&asked);
    figures::adversarial(&asked, &others);
    figures::curve(&asked);
    let judged = match forms::SETS.contains(&name) {
        true => forms::print(set, &ask::answers(set, settings, &mut embedder)),
        false => ask::judged(&asked, &others),
    };
    reliability::print(name, &judged);
    figures::cost(&ask::timed(set, settings, &mut embedder));
    judged
}

impl Settings {
    fn parse() -> Result<Settings, lexopt::Error> {
        let mut settings = Settings {
            sets: Vec::new(),
            manual: None,
            manuals: None,
            file: "onnx/model_int8.onnx".to_string(),
            k: 6,
            questions: usize::MAX,
            half: data::Half::Kept,
            extract: ExtractOptions::default(),
        };
        let mut parser = lexopt::Parser::from_env();
        while let Some(argument) = parser.next()? {
            match argument {
                Long("file") => settings.file = parser.value()?.parse()?,
                Long("k") => settings.k = parser.value()?.parse()?,
                Long("questions") => settings.questions = parser.value()?.parse()?,
                Long("sentences") => settings.extract.max_sentences = parser.value()?.parse()?,
                Long("margin") => settings.extract.margin = parser.value()?.parse()?,
                Long("close") => settings.extract.close_margin = parser.value()?.parse()?,
                Long("embedded") => settings.extract.max_embedded = parser.value()?.parse()?,
                Long("read") => settings.extract.max_read = parser.value()?.parse()?,
                Long("sure") => settings.extract.sure = parser.value()?.parse()?,
                Long("manual") => settings.manual = Some(Manual::own()),
                Long("manuals") => settings.manuals = Some(parser.value()?.into()),
                Long("pages") => settings.manual()?.pages = parser.value()?.into(),
                Long("ask") => settings.manual()?.questions = parser.value()?.into(),
                Long("pieces") => settings.manual()?.pieces = parser.value()?.parse()?,
                Long("all") => settings.half = data::Half::Both,
                Value(set) => settings.sets.push(set.string()?),
                // What cargo bench passes on to every benchmark.
                Long("bench") => {}
                other => return Err(other.unexpected()),
            }
        }
        if settings.sets.is_empty() {
            settings.sets.push("squad_train_sample".to_string());
        }
        Ok(settings)
    }

    /// The manual that is asked; fails where none is.
    fn manual(&mut self) -> Result<&mut Manual, lexopt::Error> {
        self.manual.as_mut().ok_or_else(|| "--pages, --ask and --pieces go with --manual".into())
    }
}
