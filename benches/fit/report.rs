//! What the answers are like, of the half that nothing is fitted to.

use pg_rag::extract::{Extract, ExtractOptions};

use crate::embedder::Remembering;
use crate::observe::{FitSet, Model};
use crate::search::Found;

/// The questions of one set.
#[derive(Default)]
struct Outcomes {
    in_best: usize,
    in_evidence: usize,
    /// Confidences with the passage, without it, and of questions that no passage answers.
    with: Vec<f32>,
    without: Vec<f32>,
    adversarial: Vec<f32>,
    /// Confidences where only the first passage is read: with the answer in it, and without.
    alone_with: Vec<f32>,
    alone_without: Vec<f32>,
    /// Sentences of evidence, and passages that the reader was given, where the passage is there, and of all that was asked.
    sentences: usize,
    read_with: usize,
    read: usize,
}

/// A line a set, of answers as `options` have them made.
pub fn print(model: &mut Model, options: &ExtractOptions) {
    println!(
        "\n{:20} {:>5} {:>6} {:>8} {:>8} {:>11} {:>10} {:>8} {:>7} {:>12} {:>11} {:>9} {:>9} {:>6}",
        "set",
        "asked",
        "best",
        "evidence",
        "removed",
        "adversarial",
        "caught@10",
        "refused",
        "caught",
        "one: refused",
        "one: caught",
        "sentences",
        "with read",
        "read"
    );
    for set in &model.sets {
        Outcomes::of(set, &mut model.embedder, options).print(&set.name);
    }
}

impl Outcomes {
    fn of(set: &FitSet, embedder: &mut Remembering, options: &ExtractOptions) -> Outcomes {
        let mut outcomes = Outcomes::default();
        let before = embedder.read;
        for asked in set.asked.iter().filter(|it| set.question(it).is_kept()) {
            let question = set.question(asked);
            let read = embedder.read;
            let with = set.answer(asked, &asked.with, (&mut *embedder, options));
            if !question.is_answerable {
                outcomes.adversarial.push(with.confidence);
                continue;
            }
            let holds = |it: &pg_rag::extract::Evidence| {
                set.holds(question, &asked.with[it.passage], it.bytes.clone())
            };
            outcomes.add(&with, holds);
            outcomes.read_with += embedder.read - read;
            let mut confidence =
                |found: &[Found]| set.answer(asked, found, (&mut *embedder, options)).confidence;
            outcomes.without.push(confidence(&asked.without));
            match asked.with.first().is_some_and(|it| question.gold.contains(&it.passage)) {
                true => outcomes.alone_with.push(confidence(&asked.with[..1])),
                false => {
                    outcomes.alone_without.push(confidence(&asked.with[..1.min(asked.with.len())]))
                }
            }
            outcomes.alone_without.push(confidence(&asked.without[..1.min(asked.without.len())]));
        }
        outcomes.read = embedder.read - before;
        outcomes
    }

    fn add(&mut self, answer: &Extract, holds: impl Fn(&pg_rag::extract::Evidence) -> bool) {
        let best = answer.evidence.iter().max_by(|a, b| a.score.total_cmp(&b.score));
        self.in_best += usize::from(best.is_some_and(&holds));
        self.in_evidence += usize::from(answer.evidence.iter().any(&holds));
        self.sentences += answer.evidence.len();
        self.with.push(answer.confidence);
    }

    fn print(&self, name: &str) {
        let count = self.with.len().max(1) as f64;
        let threshold = ExtractOptions::default().threshold;
        let below = |of: &[f32], limit: f32| {
            of.iter().filter(|it| **it < limit).count() as f64 / of.len().max(1) as f64
        };
        let mut with = self.with.clone();
        with.sort_by(f32::total_cmp);
        let tenth = with.get(with.len() / 10).copied().unwrap_or_default();
        println!(
            "{name:20} {:5} {:6.3} {:8.3} {:8.3} {:11.3} {:10.3} {:8.3} {:7.3} {:12.3} {:11.3} {:9.2} {:9} {:6}",
            self.with.len(),
            self.in_best as f64 / count,
            self.in_evidence as f64 / count,
            area(&self.with, &self.without),
            area(&self.with, &self.adversarial),
            below(&self.without, tenth),
            below(&self.with, threshold),
            below(&self.without, threshold),
            below(&self.alone_with, threshold),
            below(&self.alone_without, threshold),
            self.sentences as f64 / count,
            self.read_with,
            self.read,
        );
    }
}

/// The probability that one of `with` is greater than one of `without`.
fn area(with: &[f32], without: &[f32]) -> f64 {
    let mut without = without.to_vec();
    without.sort_by(f32::total_cmp);
    let below = |one: &f32| {
        let less = without.partition_point(|other| other < one);
        let equal = without.partition_point(|other| other <= one) - less;
        less as f64 + equal as f64 / 2.0
    };
    with.iter().map(below).sum::<f64>() / (with.len() * without.len()) as f64
}
