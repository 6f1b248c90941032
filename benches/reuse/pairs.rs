//! Judged pairs of questions, and what is measured of them.

use std::time::{Duration, Instant};

use pg_rag::answer::reuse::QuestionLikeness;
use pg_rag::embed::EmbeddingKind;
use pg_rag::vector::cosine;
use serde::Deserialize;

use crate::baseline;
use crate::embedder::Remembering;

/// One pair a line.
const PAIRS: &str = include_str!("pairs.jsonl");

/// Two questions.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub struct JudgedPair {
    /// The code of their language and a number.
    pub id: String,
    /// What they are about.
    pub domain: String,
    /// Whether they mean the same.
    pub same: bool,
    /// Whether nothing is fitted to them.
    #[serde(default)]
    pub held_out: bool,
    pub first: String,
    pub second: String,
}

/// A pair with what rules make of it.
pub struct MeasuredPair {
    pub pair: JudgedPair,
    pub cosine: f32,
    pub likeness: QuestionLikeness,
    /// Whether its words suffice for the baseline.
    pub suits_baseline: bool,
    /// How long it took to compare the words.
    pub took: Duration,
}

impl JudgedPair {
    /// All of them.
    pub fn all() -> Vec<JudgedPair> {
        PAIRS.lines().map(|line| serde_json::from_str(line).expect("a pair of questions")).collect()
    }

    pub fn texts(&self) -> [&str; 2] {
        [&self.first, &self.second]
    }

    pub fn language(&self) -> &str {
        self.id.split('-').next().unwrap_or_default()
    }
}

impl MeasuredPair {
    /// Compares both questions, whose vectors the embedder knows.
    pub fn new(pair: JudgedPair, embedder: &Remembering) -> MeasuredPair {
        let [one, other] = pair.texts().map(|it| embedder.vector(it, EmbeddingKind::Query));
        let cosine = cosine(&one, &other) as f32;
        let begun = Instant::now();
        let likeness = QuestionLikeness::of(&pair.first, &pair.second);
        let took = begun.elapsed();
        let suits_baseline = baseline::are_alike(&pair.first, &pair.second);
        MeasuredPair { cosine, likeness, suits_baseline, took, pair }
    }
}
