//! `rag_answer`, `rag_answer_details`.

use pgrx::prelude::*;
use pgrx::{JsonB, Uuid};
use serde::Deserialize;

use super::options;
use super::retrieve::question;
use crate::error::{Error, ErrorKind, Result};
use crate::pg::ask::{self, Answer};
use crate::pg::error::OrReport;
use crate::pg::guc;
use crate::pg::search::Search;
use crate::retrieve::RetrieveOptions;

/// Chunks that are read for an answer.
const DEFAULT_K: i32 = 6;

/// How the chunks are put to the answerer; `auto` is `compact`, all chunks in one go.
const STRATEGIES: [&str; 2] = ["auto", "compact"];

#[derive(Deserialize, Default)]
#[serde(deny_unknown_fields, default)]
struct Options {
    rerank: Option<String>,
    min_confidence: Option<f32>,
    max_sentences: Option<usize>,
    temperature: f32,
    max_tokens: Option<u32>,
}

/// The options that are not those of retrieval.
const OWN: [&str; 5] = ["rerank", "min_confidence", "max_sentences", "temperature", "max_tokens"];

#[pg_extern(sql = false)]
#[allow(clippy::too_many_arguments)]
fn rag_answer(
    question: Option<&str>,
    pipeline: Option<&str>,
    strategy: Option<&str>,
    k: Option<i32>,
    mode: Option<&str>,
    filter: Option<JsonB>,
    llm: Option<&str>,
    options: Option<JsonB>,
) -> String {
    let wish = Wish { pipeline, strategy, k, mode, filter, llm, options };
    wish.fulfil(question).or_report().text
}

#[pg_extern(sql = false)]
#[allow(clippy::too_many_arguments, clippy::type_complexity)]
fn rag_answer_details(
    question: Option<&str>,
    pipeline: Option<&str>,
    strategy: Option<&str>,
    k: Option<i32>,
    mode: Option<&str>,
    filter: Option<JsonB>,
    llm: Option<&str>,
    options: Option<JsonB>,
) -> TableIterator<
    'static,
    (
        name!(answer, String),
        name!(supported, Option<bool>),
        name!(confidence, Option<f32>),
        name!(citations, JsonB),
        name!(context, JsonB),
        name!(usage, JsonB),
        name!(trace_id, Option<Uuid>),
    ),
> {
    let wish = Wish { pipeline, strategy, k, mode, filter, llm, options };
    let Answer { text, supported, confidence, citations, context, usage } =
        wish.fulfil(question).or_report();
    let (citations, context, usage) = (JsonB(citations), JsonB(context), JsonB(usage));
    TableIterator::once((text, supported, confidence, citations, context, usage, None))
}

/// The arguments of `rag_answer` besides the question.
struct Wish<'a> {
    pipeline: Option<&'a str>,
    strategy: Option<&'a str>,
    k: Option<i32>,
    mode: Option<&'a str>,
    filter: Option<JsonB>,
    llm: Option<&'a str>,
    options: Option<JsonB>,
}

impl Wish<'_> {
    fn fulfil(self, text: Option<&str>) -> Result<Answer> {
        check_strategy(self.strategy)?;
        let (retrieval, options): (RetrieveOptions, Options) =
            options::read_both(self.options, &OWN)?;
        let text = question("question", text)?;
        let k = self.k.or(Some(DEFAULT_K));
        let search = Search::new(self.pipeline, k, self.mode, self.filter, retrieval)?
            .reranked_by(options.rerank.as_deref())?;
        let writing = ask::Writing {
            llm: self.llm.map_or_else(guc::llm, str::to_owned),
            min_confidence: check_confidence(options.min_confidence)?.or_else(guc::min_confidence),
            max_sentences: options.max_sentences,
            temperature: options.temperature,
            max_tokens: options.max_tokens,
        };
        ask::ask(text, &search, &writing)
    }
}

fn check_strategy(strategy: Option<&str>) -> Result<()> {
    match strategy {
        Some(name) if !STRATEGIES.contains(&name) => {
            Err(Error::new(ErrorKind::InvalidParameter, format!("unknown strategy \"{name}\""))
                .hint(format!("Known strategies: {}.", STRATEGIES.join(", "))))
        }
        _ => Ok(()),
    }
}

fn check_confidence(confidence: Option<f32>) -> Result<Option<f32>> {
    match confidence {
        Some(value) if !(0.0..=1.0).contains(&value) => {
            Err(Error::invalid(format!("min_confidence must be between 0 and 1: {value}")))
        }
        _ => Ok(confidence),
    }
}
