//! # How many personal data are found, and what is taken for some?
//!
//! ```text
//! make bench-redact ARGS="[--missed]"
//! ```
//!
//! `tongues.rs` has patterns of six languages, of which sentences with known personal data of invented people are made, and
//! sentences without any. The rules read all of them, and then a token classifier beside the rules, as the options `redact` and
//! `redact_model` of a server have it.
//!
//! Printed is, by kind and by language, how many of the places are hidden in full, whatever they are taken for: what counts is that
//! nothing of them is sent. A false alarm is something that is hidden and touches none of the places. `--missed` prints both
//! with their sentences. The patterns were written by the authors of the rules, so figures for other texts may be lower; they
//! are for comparing languages, kinds and models.
//!
//! The model is in the folder `$PG_RAG_TEST_PII`, by default the one that `scripts/setup.sh --with-test-pii` puts into the cache,
//! and runs in ragd. Without it the rules are measured alone.

#[path = "../support/invocation.rs"]
#[allow(dead_code)]
mod invocation;
#[path = "../../tests/support/ragd.rs"]
#[allow(dead_code)]
mod ragd;
#[path = "../index/report.rs"]
#[allow(dead_code)]
mod report;
mod sentences;
mod tongues;

use std::collections::BTreeMap;
use std::ops::Range;
use std::path::PathBuf;

use lexopt::prelude::*;
use pg_rag::protocol::{Lane, ModelRef, Request, Response};
use pg_rag::redact::find::{PiiSpan, find, find_beside};
use pg_rag::text::token_labels::LabelledSpan;

use invocation::settings_or_exit;
use ragd::{Installed, cache};
use report::{Report, Table};
use sentences::{JudgedSentence, SLOTS, sentences};

/// The graph of the model.
const FILE: &str = "onnx/model_q4.onnx";

fn main() {
    let prints_missed = settings_or_exit(prints_missed(), None);
    let all = sentences();
    let harmless = all.iter().filter(|it| it.places.is_empty()).count();
    let mut report = Report::new(None);
    report.heading("personal data");
    report.note(&format!(
        "{} sentences in {} languages with {} places, {harmless} sentences without any",
        all.len(),
        tongues::TONGUES.len(),
        all.iter().map(|it| it.places.len()).sum::<usize>()
    ));
    let by_rules = all.iter().map(|it| find(&it.text, &mut || {})).collect();
    let mut ways = vec![FoundData { name: "rules", found: by_rules }];
    if let Some(labels) = labelled(&all) {
        let beside = all.iter().zip(&labels);
        let found = beside.map(|(it, labels)| find_beside(&it.text, labels, &mut || {})).collect();
        ways.push(FoundData { name: "rules and model", found });
    }
    show_kinds(&all, &ways, &mut report);
    show_languages(&all, &ways, &mut report);
    show_alarms(&all, &ways, &mut report);
    if prints_missed {
        ways.iter().for_each(|way| print_missed(&all, way));
    }
}

fn prints_missed() -> Result<bool, lexopt::Error> {
    let mut missed = false;
    let mut parser = lexopt::Parser::from_env();
    while let Some(argument) = parser.next()? {
        match argument {
            // Cargo's own word to a benchmark.
            Long("bench") => {}
            Long("missed") => missed = true,
            other => return Err(other.unexpected()),
        }
    }
    Ok(missed)
}

/// What the model labels in each sentence; `None`, with a word, where there is none.
fn labelled(all: &[JudgedSentence]) -> Option<Vec<Vec<LabelledSpan>>> {
    let folder = std::env::var_os("PG_RAG_TEST_PII").map(PathBuf::from);
    let folder = folder.unwrap_or_else(|| cache().join("rampart"));
    if !folder.join(FILE).is_file() {
        println!(
            "the rules alone: no model in {}; scripts/setup.sh --with-test-pii gets one",
            folder.display()
        );
        return None;
    }
    let ragd = Installed::find()?.start();
    let model = ModelRef {
        name: "rampart".to_owned(),
        path: folder.to_string_lossy().into_owned(),
        file: Some(FILE.to_owned()),
        digest: None,
    };
    let texts = all.iter().map(|it| it.text.clone()).collect();
    match ragd.connect().call(&Request::ClassifyTokens { model, lane: Lane::Bulk, texts }) {
        Ok(Response::Names(labels)) => Some(labels),
        other => {
            println!("the rules alone: the model does not answer: {other:?}");
            None
        }
    }
}

/// What was found in one way.
struct FoundData {
    name: &'static str,
    /// In each sentence, in order.
    found: Vec<Vec<PiiSpan>>,
}

impl FoundData {
    /// How many of the places that are `wanted` there are, and how many of them are hidden.
    fn hidden(
        &self,
        all: &[JudgedSentence],
        wanted: impl Fn(&JudgedSentence, usize) -> bool,
    ) -> (usize, usize) {
        let (mut places, mut hidden) = (0, 0);
        for (it, found) in all.iter().zip(&self.found) {
            for (place, _) in it.places.iter().filter(|(_, slot)| wanted(it, *slot)) {
                places += 1;
                hidden += usize::from(is_hidden(&it.text, place, found));
            }
        }
        (places, hidden)
    }

    /// What was found and touches no place, with its sentence.
    fn alarms<'a>(
        &'a self,
        all: &'a [JudgedSentence],
    ) -> impl Iterator<Item = (&'a JudgedSentence, &'a PiiSpan)> {
        let of_sentence = |(it, found): (&'a JudgedSentence, &'a Vec<PiiSpan>)| {
            found.iter().filter(move |span| !touches(it, &span.range)).map(move |span| (it, span))
        };
        all.iter().zip(&self.found).flat_map(of_sentence)
    }
}

/// Whether each letter and digit of a place is in something that was found.
fn is_hidden(text: &str, place: &Range<usize>, found: &[PiiSpan]) -> bool {
    let said = text[place.clone()].char_indices().filter(|(_, c)| c.is_alphanumeric());
    let mut places = said.map(|(at, _)| place.start + at);
    places.all(|at| found.iter().any(|span| span.range.contains(&at)))
}

fn touches(it: &JudgedSentence, range: &Range<usize>) -> bool {
    it.places.iter().any(|(place, _)| place.start < range.end && range.start < place.end)
}

fn share((places, hidden): (usize, usize)) -> String {
    format!("{hidden}, {:.2}", hidden as f64 / places.max(1) as f64)
}

/// The names of the ways, or nothing where there is no second one.
fn names(ways: &[FoundData]) -> [&'static str; 2] {
    [0, 1].map(|at| ways.get(at).map_or("", |way| way.name))
}

fn show_kinds(all: &[JudgedSentence], ways: &[FoundData], report: &mut Report) {
    let [first, second] = names(ways);
    let mut table = Table::new(["hidden", "places", first, second]);
    for (number, (_, title)) in SLOTS.iter().enumerate() {
        row(&mut table, title, ways, |way| way.hidden(all, |_, slot| slot == number));
    }
    row(&mut table, "all", ways, |way| way.hidden(all, |_, _| true));
    report.table(&table);
}

fn show_languages(all: &[JudgedSentence], ways: &[FoundData], report: &mut Report) {
    let [first, second] = names(ways);
    let mut table = Table::new(["hidden", "places", first, second]);
    for tongue in &tongues::TONGUES {
        row(&mut table, tongue.name, ways, |way| {
            way.hidden(all, |it, _| it.language == tongue.name)
        });
    }
    report.table(&table);
}

fn row(
    table: &mut Table,
    title: &str,
    ways: &[FoundData],
    hidden: impl Fn(&FoundData) -> (usize, usize),
) {
    let counts: Vec<(usize, usize)> = ways.iter().map(hidden).collect();
    let shown = |at: usize| counts.get(at).copied().map_or_else(String::new, share);
    table.row([title.to_owned(), counts[0].0.to_string(), shown(0), shown(1)]);
}

/// What is taken for personal data and is none, by what it is taken for, beside all that is taken for that.
fn show_alarms(all: &[JudgedSentence], ways: &[FoundData], report: &mut Report) {
    let [first, second] = names(ways);
    let mut table = Table::new(["false alarms of all that is found", first, second]);
    let mut kinds: BTreeMap<&str, [(usize, usize); 2]> = BTreeMap::new();
    for (at, way) in ways.iter().enumerate() {
        for span in way.found.iter().flatten() {
            kinds.entry(span.kind.word()).or_default()[at].0 += 1;
        }
        for (_, span) in way.alarms(all) {
            kinds.entry(span.kind.word()).or_default()[at].1 += 1;
        }
    }
    let shown = |counts: &[(usize, usize); 2], at: usize| match counts[at] {
        (found, wrong) if at < ways.len() => format!("{wrong} of {found}"),
        _ => String::new(),
    };
    let mut sum = [(0, 0); 2];
    for (kind, counts) in kinds {
        for (sum, count) in sum.iter_mut().zip(&counts) {
            *sum = (sum.0 + count.0, sum.1 + count.1);
        }
        table.row([kind.to_owned(), shown(&counts, 0), shown(&counts, 1)]);
    }
    table.row(["all".to_owned(), shown(&sum, 0), shown(&sum, 1)]);
    report.table(&table);
}

fn print_missed(all: &[JudgedSentence], way: &FoundData) {
    println!("\n{}: what is not hidden, and false alarms", way.name);
    for (it, found) in all.iter().zip(&way.found) {
        let missed = it.places.iter().filter(|(place, _)| !is_hidden(&it.text, place, found));
        for (place, slot) in missed {
            println!("  - {}: {:?} in {:?}", SLOTS[*slot].1, &it.text[place.clone()], it.text);
        }
    }
    for (it, span) in way.alarms(all) {
        println!("  + {}: {:?} in {:?}", span.kind.word(), &it.text[span.range.clone()], it.text);
    }
}
