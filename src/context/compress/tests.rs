//! What is shown of chunks, and what a language model is asked for it.

use super::*;
use crate::context::excerpt::tests::is_from_its_base;
use crate::context::headers::ChunkHeader;
use crate::embed::calibration::Calibration;
use crate::embed::{Embedder, EmbeddingKind};
use crate::error::Error;
use crate::prompt::messages::{Message, NO_ANSWER};
use crate::prompt::template::tests::shipped;
use crate::prompt::tokens::tests::words;
use crate::prompt::writer::Writer;
use crate::retrieve::Passage;
use crate::source::Source;
use crate::source::tests::passage;

/// Chunks, best first, with keys from 0.
pub fn chunks(texts: &[&str]) -> Vec<Source> {
    let numbered = (0..).zip(texts);
    let chunk = |(chunk_id, text): (i64, &&str)| Passage { chunk_id, ..passage(text) };
    numbered.map(|numbered| Source::Chunk(chunk(numbered))).collect()
}

/// A stand-in that counts words, knows what is embedded by its length, and writes what its script
/// says.
#[derive(Default)]
pub struct Scripted {
    /// What is said, in turn.
    pub says: Vec<&'static str>,
    /// The prompts that were asked.
    pub asked: Vec<Vec<Message>>,
    /// How many texts were counted.
    pub counted: usize,
    /// How many texts were embedded.
    pub embedded: usize,
}

impl Scripted {
    /// Runs `work` with the means.
    pub fn with<T>(&mut self, work: impl FnOnce(&mut Means<'_>) -> T) -> T {
        let Scripted { says, asked, counted, embedded } = self;
        let mut number = 0;
        let mut nonce = || {
            number += 1;
            Ok(format!("n{number}"))
        };
        work(&mut Means {
            counter: &mut Counting(counted),
            embedder: &mut Lengths(embedded),
            writer: &mut Script { says, asked },
            nonce: &mut nonce,
            templates: &|name| Ok(shipped(name)),
        })
    }
}

struct Counting<'a>(&'a mut usize);

impl Counter for Counting<'_> {
    fn count(&mut self, texts: &[String]) -> Result<Vec<usize>> {
        *self.0 += texts.len();
        Ok(texts.iter().map(|text| words(text)).collect())
    }
}

struct Lengths<'a>(&'a mut usize);

impl Embedder for Lengths<'_> {
    fn embed(&mut self, texts: &[String], _: EmbeddingKind) -> Result<Vec<Vec<f32>>> {
        *self.0 += texts.len();
        Ok(texts.iter().map(|text| vec![1.0, 1.0 / (1.0 + text.len() as f32)]).collect())
    }

    /// All its texts are alike, which a calibration that looks only at differences would not see.
    fn calibration(&mut self) -> Result<Calibration> {
        Calibration::parse(include_str!("../../../scripts/calibration/all-minilm-l6-v2.json"))
    }
}

struct Script<'a> {
    says: &'a mut Vec<&'static str>,
    asked: &'a mut Vec<Vec<Message>>,
}

impl Writer for Script<'_> {
    fn write(&mut self, messages: &[Message]) -> Result<String> {
        self.asked.push(messages.to_vec());
        match self.says.is_empty() {
            true => Err(Error::invalid("the script has ended")),
            false => Ok(self.says.remove(0).to_owned()),
        }
    }
}

const QUESTION: &str = "Where do visitors park their cars?";

const TEXTS: [&str; 3] = [
    "The mill was built in 1890. Visitors park their cars behind the mill. It has three floors.",
    "The gate closes at ten. Cars of visitors may stay overnight.\n\nBread is sold on Mondays.",
    "Flour is ground on Tuesdays. The miller sleeps at noon.",
];

fn task(compression: Compression) -> CompressionTask<'static> {
    CompressionTask {
        question: QUESTION,
        compression,
        ratio: 0.4,
        budget: None,
        call: None,
        max_summaries: 10,
    }
}

fn pieces(texts: &[&str]) -> Vec<Excerpt> {
    chunks(texts).into_iter().map(|source| Excerpt::whole(source, ChunkHeader::default())).collect()
}

fn shown(texts: &[&str], task: &CompressionTask<'_>, script: &mut Scripted) -> Vec<String> {
    let found = script.with(|means| compressed(pieces(texts), task, means)).unwrap();
    found.pieces.iter().map(Excerpt::text).collect()
}

#[test]
fn beginnings_are_whole_sentences() {
    let script = &mut Scripted::default();
    let found = shown(&TEXTS, &task(Compression::Truncate), script);
    let expected = [
        "The mill was built in 1890. [...]",
        "The gate closes at ten.\n[...]",
        "Flour is ground on Tuesdays. [...]",
    ];
    assert_eq!(found, expected);
    let all = CompressionTask { ratio: 1.0, ..task(Compression::Truncate) };
    assert_eq!(shown(&TEXTS, &all, script), TEXTS);
    assert_eq!(script.asked.len() + script.embedded, 0);
}

#[test]
fn the_best_sentences_stay_in_their_places() {
    let script = &mut Scripted::default();
    let few = CompressionTask { ratio: 0.3, ..task(Compression::Extractive) };
    let found = shown(&TEXTS, &few, script);
    assert_eq!(found[0], "[...] Visitors park their cars behind the mill. [...]");
    assert_eq!(found[1], "[...] Cars of visitors may stay overnight.\n[...]");
    assert_eq!(found.len(), 2);
    assert!(script.embedded > 0);
    // A budget that is tighter than the ratio counts, with the lines around each chunk.
    let tight = CompressionTask { budget: Some(3 * 10 + 8), ..few };
    assert_eq!(shown(&TEXTS, &tight, script), found[..1]);
    // Without a word to go by, the beginnings.
    let silent = CompressionTask { question: "?!", ..few };
    let beginnings = CompressionTask { compression: Compression::Truncate, ..few };
    assert_eq!(shown(&TEXTS, &silent, script), shown(&TEXTS, &beginnings, script));
}

#[test]
fn excerpts_are_never_made_up() {
    let text = "# Parking\n\n- Visitors park behind the mill:\n- cars left\n- bicycles right\n\n| who | where |\n|---|---|\n| guests | yard |\n\nWhere to park? In the yard.";
    for compression in [Compression::Truncate, Compression::Extractive] {
        for ratio in [0.01, 0.2, 0.5, 0.9] {
            let task = CompressionTask { ratio, ..task(compression) };
            let found = Scripted::default()
                .with(|means| compressed(pieces(&[text, TEXTS[0]]), &task, means))
                .unwrap();
            assert!(!found.pieces.is_empty() && found.pieces.iter().all(is_from_its_base));
        }
    }
}

/// More words than a chunk has that is left as it is.
fn long(beginning: &str) -> String {
    format!("{beginning} {}", "And so it goes on. ".repeat(20))
}

#[test]
fn a_chunk_is_summed_up_by_itself() {
    let texts = [long("Visitors park behind the mill."), long("The gate."), long("Bread.")];
    let texts: Vec<&str> = texts.iter().map(String::as_str).collect();
    let says = vec![" Cars are left behind the mill [1].\n", NO_ANSWER];
    let script = &mut Scripted { says, ..Scripted::default() };
    let limited = CompressionTask { max_summaries: 2, ..task(Compression::Summarize) };
    let found = shown(&texts, &limited, script);
    // The second says nothing to the question, and the third is beyond the limit.
    assert_eq!(found[0], "Cars are left behind the mill .");
    assert!(found[1].starts_with("Bread. And so") && found[1].ends_with("[...]"), "{found:?}");
    assert_eq!(found.len(), 2);
    assert_eq!(script.asked.len(), 2);
    let [system, user] = &script.asked[0][..] else { panic!("{:?}", script.asked[0]) };
    let content = texts[0];
    assert_eq!(
        user.content,
        format!("<<<source 1 n1>>>\n{content}\n<<<end 1 n1>>>\n\nQuestion: {QUESTION}")
    );
    assert_eq!((system.role.as_str(), user.role.as_str()), ("system", "user"));
    assert!(system.content.contains("in at most 32 words"), "{}", system.content);
    assert!(!script.asked[1][1].content.contains("behind the mill"));
}

#[test]
fn a_summary_that_is_none_is_not_shown() {
    let text = long("Visitors park behind the mill.");
    for says in ["", "  \n", Box::leak(text.repeat(2).into_boxed_str())] {
        let script = &mut Scripted { says: vec![says], ..Scripted::default() };
        let found = shown(&[&text], &task(Compression::Summarize), script);
        assert!(found[0].starts_with("Visitors park behind the mill. And"), "{found:?}");
        assert!(found[0].len() < text.len() && found[0].ends_with("[...]"));
    }
    // If nothing says anything, the best stays; what is short is not summed up.
    let script = &mut Scripted { says: vec![NO_ANSWER], ..Scripted::default() };
    assert_eq!(shown(&[&text], &task(Compression::Summarize), script), [text.as_str()]);
    let script = &mut Scripted::default();
    assert_eq!(shown(&TEXTS, &task(Compression::Summarize), script), TEXTS);
}

#[test]
fn a_writer_that_fails_is_an_error() {
    let script = &mut Scripted::default();
    let text = long("Visitors.");
    let task = task(Compression::Summarize);
    let error = script.with(|means| compressed(pieces(&[&text]), &task, means)).unwrap_err();
    assert_eq!(error.message(), "the script has ended");
}

#[test]
fn layers_are_an_overview_excerpts_and_summaries() {
    let texts = [
        long("Visitors park their cars behind the mill."),
        long("The gate closes at ten."),
        long("Bread is sold."),
    ];
    let texts: Vec<&str> = texts.iter().map(String::as_str).collect();
    let script = &mut Scripted {
        says: vec!["All speak of the mill [2].", "It closes."],
        ..Scripted::default()
    };
    let task = CompressionTask { ratio: 0.05, ..task(Compression::Hierarchical) };
    let found = script.with(|means| compressed(pieces(&texts), &task, means)).unwrap();
    assert_eq!(found.overview.as_deref(), Some("All speak of the mill ."));
    let shown: Vec<String> = found.pieces.iter().map(Excerpt::text).collect();
    assert_eq!(shown, ["Visitors park their cars behind the mill. [...]", "It closes."]);
    assert_eq!(script.asked.len(), 2);
    let overview = &script.asked[0];
    assert!(overview[0].content.contains("at most 120 words"));
    for (number, text) in (1..).zip(&texts) {
        let source = format!(
            "<<<source {number} n1>>>\n{}\n<<<end {number} n1>>>",
            text.trim_end_matches('\n')
        );
        assert!(overview[1].content.contains(&source), "{}", overview[1].content);
    }
    let summary = &script.asked[1][1].content;
    assert!(summary.starts_with("<<<source 1 n2>>>\nThe gate closes at ten."), "{summary}");
    // One chunk needs no overview.
    let script = &mut Scripted::default();
    let one = script.with(|means| compressed(pieces(&texts[..1]), &task, means)).unwrap();
    assert_eq!((one.overview, one.pieces.len()), (None, 1));
}

#[test]
fn what_is_summed_up_fits_too() {
    let texts = [long("Visitors park."), long("The gate."), long("Bread.")];
    let texts: Vec<&str> = texts.iter().map(String::as_str).collect();
    let script = &mut Scripted { says: vec!["Of mills.", "It closes."], ..Scripted::default() };
    let task = CompressionTask { call: Some(150), ..task(Compression::Hierarchical) };
    script.with(|means| compressed(pieces(&texts), &task, means)).unwrap();
    let sources = script.asked[0][1].content.split("\n\nQuestion:").next().unwrap();
    assert!(words(sources) <= 150, "{sources}");
    assert!(sources.contains("<<<source 2 ") && !sources.contains("<<<source 3 "));
}
