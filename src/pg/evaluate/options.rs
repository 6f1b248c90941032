//! The options of `rag_eval`, and its k.

use serde::Deserialize;
use serde_json::Value;

use super::out_of_range;
use crate::error::{Error, ErrorKind, Result};
use crate::eval::interval::Resampling;
use crate::eval::measure::GREATEST_K;
use crate::eval::summary::SummaryOptions;
use crate::options;
use crate::pg::ragd::llm::Llm;
use crate::protocol::ProviderConfig;

/// The k where none is named.
const USUAL: [u32; 4] = [1, 3, 5, 10];

/// How the context is measured, beyond what judgements say.
#[derive(Clone, Copy, Debug, Default, Deserialize, PartialEq, Eq)]
#[serde(rename_all = "lowercase")]
pub enum ContextMeasure {
    /// It is not measured.
    #[default]
    None,
    /// By the similarity of its sentences to question and answers.
    Similarity,
    /// By the judgement of a language model.
    Llm,
}

/// What says which questions an answer answers, which chunks are useful and whether they hold an
/// expected answer.
#[derive(Clone, Copy, Debug, Default, Deserialize, PartialEq, Eq)]
#[serde(rename_all = "lowercase")]
pub enum JudgeOfAnswers {
    /// Words, vectors and judgements.
    #[default]
    Words,
    /// The judgement of a language model.
    Llm,
}

/// The options of `rag_eval`.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct EvalOptions {
    /// Whether the run is kept.
    pub keep: bool,
    /// Whether questions are answered too.
    pub answers: bool,
    /// What judges answers and what was read for them.
    pub judge: JudgeOfAnswers,
    /// How the context is measured.
    pub context: ContextMeasure,
    /// How many chunks are the context.
    pub context_k: u32,
    /// The foreign server of the model that judges; that of `rag.llm` if not given.
    pub llm: Option<String>,
    /// How often cases are drawn for an interval.
    resamples: u32,
    /// How many tosses the significance test draws.
    permutations: u32,
    /// Share of figures that an interval holds.
    confidence: f64,
    /// Where random numbers begin.
    pub seed: u64,
}

impl Default for EvalOptions {
    fn default() -> Self {
        EvalOptions {
            keep: true,
            answers: false,
            judge: JudgeOfAnswers::Words,
            context: ContextMeasure::None,
            context_k: 5,
            llm: None,
            resamples: 1000,
            permutations: 9999,
            confidence: 0.95,
            seed: 1,
        }
    }
}

impl EvalOptions {
    /// Reads the options from JSON, and checks them. `others` are keys that are known elsewhere, for the
    /// hint.
    pub fn read(options: &Value, others: &[&str]) -> Result<EvalOptions> {
        let read: EvalOptions = options::read("", options.clone(), others)?;
        if !(1..=100_000).contains(&read.resamples) {
            return Err(out_of_range("resamples", "between 1 and 100000", read.resamples));
        }
        if !(1..=1_000_000).contains(&read.permutations) {
            return Err(out_of_range("permutations", "between 1 and 1000000", read.permutations));
        }
        if !(read.confidence > 0.0 && read.confidence < 1.0) {
            return Err(out_of_range("confidence", "above 0 and below 1", read.confidence));
        }
        read.check_context_k()?;
        if read.judge == JudgeOfAnswers::Llm && !read.answers {
            return Err(Error::invalid("judge is \"llm\", and there are no answers to judge")
                .hint("Add \"answers\": true to the options."));
        }
        Ok(read)
    }

    /// An error where the context would have no chunk or too many.
    pub fn check_context_k(&self) -> Result<()> {
        match self.context_k {
            1..=100 => Ok(()),
            k => Err(out_of_range("context_k", "between 1 and 100", k)),
        }
    }

    /// Who judges, which must be a language model: `what` cannot be judged otherwise.
    /// `instead` is what can be used in its place.
    pub fn judging_llm(&self, what: &str, instead: &str) -> Result<ProviderConfig> {
        if let Llm::Provider(llm) = Llm::or_default(self.llm.as_deref())? {
            return Ok(llm.config);
        }
        let message = format!("the built-in answerer \"extractive\" cannot judge {what}");
        let hint = format!("Name a foreign server of rag_llm in the option llm, or use {instead}.");
        Err(Error::invalid(message).hint(hint))
    }

    /// How figures are made of scores.
    pub fn summary(&self) -> SummaryOptions {
        let EvalOptions { resamples, confidence, seed, permutations, .. } = *self;
        SummaryOptions { resampling: Resampling { resamples, confidence, seed }, permutations }
    }
}

/// The k in order, each once.
pub fn ks(given: Option<Vec<Option<i32>>>) -> Result<Vec<u32>> {
    let Some(given) = given else { return Ok(USUAL.to_vec()) };
    let hint = "For instance k => '{1, 5, 10}'.";
    let mut ks = Vec::with_capacity(given.len());
    for k in given {
        let null = || Error::new(ErrorKind::NullNotAllowed, "k holds a NULL").hint(hint);
        match k.ok_or_else(null)? {
            k if (1..=GREATEST_K as i32).contains(&k) => ks.push(k as u32),
            k => return Err(out_of_range("k", &format!("between 1 and {GREATEST_K}"), k)),
        }
    }
    ks.sort_unstable();
    ks.dedup();
    if ks.is_empty() {
        return Err(Error::invalid("k is empty").hint(hint));
    }
    Ok(ks)
}
