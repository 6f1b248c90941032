//! Every question, with and without the passages that answer it.

use std::collections::HashSet;
use std::time::{Duration, Instant};

use pg_rag::embed::EmbeddingKind;
use pg_rag::extract::{Extract, ExtractOptions, ExtractPassage, extract};
use pg_rag::protocol::Lane;

use crate::Settings;
use crate::data::{Judged, Set};
use crate::embedder::Remembering;
use crate::outcomes::Answered;
use crate::reliability::{Answerability, JudgedAnswer};
use crate::search::{Found, Index};

/// Questions that are timed, one at a time.
const TIMED: usize = 200;

/// What became of a question.
pub struct Asked {
    /// Whether a passage that answers it was retrieved.
    pub retrieved: bool,
    /// Whether the best sentence holds the answer.
    pub in_best: bool,
    /// Whether the evidence does.
    pub in_evidence: bool,
    /// How many sentences the evidence has.
    pub sentences: usize,
    /// Confidence with the passages that answer it.
    pub with: f32,
    /// Confidence without them.
    pub without: f32,
}

/// What a question cost.
pub struct Timed {
    /// Without the time that the embedder took.
    pub own: Duration,
    /// What the reader took.
    pub reading: Duration,
    /// All of it.
    pub whole: Duration,
    /// Tokens embedded.
    pub tokens: u64,
}

/// Asks all questions of `set`.
pub fn ask_all(set: &Set, settings: &Settings, embedder: &mut Remembering) -> Vec<Asked> {
    let vectors = load(set, embedder);
    let index = Index::new(&set.passages, &vectors);
    let answerable = set.questions.iter().filter(|question| question.is_answerable);
    answerable
        .map(|question| {
            let vector = embedder.vector(&question.text, EmbeddingKind::Query);
            let mut ask = |hidden: &HashSet<usize>| {
                let found = index.search(&question.text, &vector, hidden, settings.k);
                (answer(set, question, &found, &settings.extract, embedder), found)
            };
            let (with, found) = ask(&HashSet::new());
            let (without, _) = ask(&question.gold);
            judge(set, question, &found, &with, without.confidence)
        })
        .collect()
}

/// The confidence with which questions are answered whose passage speaks of their subject alone.
pub fn adversarial(set: &Set, settings: &Settings, embedder: &mut Remembering) -> Vec<f32> {
    let vectors = load(set, embedder);
    let index = Index::new(&set.passages, &vectors);
    let unanswerable = set.questions.iter().filter(|question| !question.is_answerable);
    unanswerable
        .map(|question| {
            let vector = embedder.vector(&question.text, EmbeddingKind::Query);
            let found = index.search(&question.text, &vector, &HashSet::new(), settings.k);
            answer(set, question, &found, &settings.extract, embedder).confidence
        })
        .collect()
}

/// Answers to what was `asked`, with the passages that answer it and without, and to questions that nothing answers,
/// whose confidences are `others`.
pub fn judged(asked: &[Asked], others: &[f32]) -> Vec<JudgedAnswer> {
    let unanswerable = |answerability: Answerability, confidence: f32| JudgedAnswer {
        answerability,
        confidence,
        is_right: false,
    };
    let answerable = asked.iter().map(|one| JudgedAnswer {
        answerability: Answerability::Answerable,
        confidence: one.with,
        is_right: one.in_evidence,
    });
    let removed = asked.iter().map(|one| unanswerable(Answerability::Removed, one.without));
    let absent = others.iter().map(|it| unanswerable(Answerability::Absent, *it));
    answerable.chain(removed).chain(absent).collect()
}

/// The answer to each question, of the whole collection.
pub fn answers(set: &Set, settings: &Settings, embedder: &mut Remembering) -> Vec<Answered> {
    let vectors = load(set, embedder);
    let index = Index::new(&set.passages, &vectors);
    let answer = |question: &Judged| {
        let vector = embedder.vector(&question.text, EmbeddingKind::Query);
        let found = index.search(&question.text, &vector, &HashSet::new(), settings.k);
        Answered::of(&question.text, &passages(set, &found), embedder, &settings.extract)
    };
    set.questions.iter().map(answer).collect()
}

/// Asks some questions as a session would: nothing but the passages' vectors is there.
pub fn timed(set: &Set, settings: &Settings, embedder: &mut Remembering) -> Vec<Timed> {
    let vectors = load(set, embedder);
    let index = Index::new(&set.passages, &vectors);
    let questions = set.questions.iter().take(TIMED);
    let searched: Vec<(&Judged, Vec<Found>)> = questions
        .map(|question| {
            let vector = embedder.vector(&question.text, EmbeddingKind::Query);
            (question, index.search(&question.text, &vector, &HashSet::new(), settings.k))
        })
        .collect();
    searched
        .iter()
        .map(|(question, found)| {
            embedder.forget();
            let (tokens, reading) = (embedder.tokens, embedder.reading);
            let mut run = || {
                let started = Instant::now();
                answer(set, question, found, &settings.extract, embedder);
                started.elapsed()
            };
            let (whole, own) = (run(), run());
            let (tokens, reading) = (embedder.tokens - tokens, embedder.reading - reading);
            Timed { own, reading, whole, tokens }
        })
        .collect()
}

/// Embeds the set and gives the vectors of its passages.
fn load(set: &Set, embedder: &mut Remembering) -> Vec<Vec<f32>> {
    let passages: Vec<String> = set
        .passages
        .iter()
        .map(|passage| match passage.title.is_empty() {
            true => passage.text.clone(),
            false => format!("{}. {}", passage.title, passage.text),
        })
        .collect();
    let questions: Vec<String> = set.questions.iter().map(|asked| asked.text.clone()).collect();
    embedder.load(&passages, EmbeddingKind::Passage, Lane::Bulk);
    embedder.load(&questions, EmbeddingKind::Query, Lane::Bulk);
    passages.iter().map(|text| embedder.vector(text, EmbeddingKind::Passage)).collect()
}

fn answer(
    set: &Set,
    question: &Judged,
    found: &[Found],
    options: &ExtractOptions,
    embedder: &mut Remembering,
) -> Extract {
    extract(&question.text, &passages(set, found), embedder, options).unwrap()
}

fn passages<'a>(set: &'a Set, found: &[Found]) -> Vec<ExtractPassage<'a>> {
    let passage = |(number, found): (u32, &Found)| ExtractPassage {
        number,
        content: &set.passages[found.passage].text,
        lead: 0,
        heading: Some(&set.passages[found.passage].title),
        is_beginning: set.passages[found.passage].is_beginning,
        dense_similarity: Some(found.similarity),
    };
    (1..).zip(found).map(passage).collect()
}

fn judge(set: &Set, question: &Judged, found: &[Found], with: &Extract, without: f32) -> Asked {
    let holds = |evidence: &pg_rag::extract::Evidence| {
        let text = &set.passages[found[evidence.passage].passage].text[evidence.bytes.clone()];
        let text = text.to_lowercase();
        question.answers.iter().any(|answer| text.contains(answer))
    };
    let best = with.evidence.iter().max_by(|a, b| a.score.total_cmp(&b.score));
    Asked {
        retrieved: found.iter().any(|found| question.gold.contains(&found.passage)),
        in_best: best.is_some_and(holds),
        in_evidence: with.evidence.iter().any(holds),
        sentences: with.evidence.len(),
        with: with.confidence,
        without,
    }
}
