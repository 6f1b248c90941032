//! What a caller of `rag_answer` wants, and what comes of it.

use pgrx::Uuid;
use serde::Deserialize;

use super::answer::{self, Answer, AnswerStream, CheckArguments, Record};
use super::conversation::{Conversation, Turn};
use super::search::Search;
use super::{route, trace_log};
use crate::answer::strategy::{self, StrategyOptions};
use crate::context::{ContextOptions, options};
use crate::error::{Error, ErrorKind, Result};
use crate::pg::catalog::template;
use crate::pg::ragd::llm::Llm;
use crate::pg::ragd::trace::{self, TraceStep};
use crate::pg::server::guc::Caching;
use crate::pg::server::json::Jsonb;
use crate::pg::server::options::GivenOptions;
use crate::pg::server::{guc, sql};
use crate::prompt::messages::Message;
use crate::retrieve::RetrieveOptions;

/// Chunks that are read for an answer.
const DEFAULT_K: i32 = 6;

/// Options that are neither of retrieval nor of a later step.
#[derive(Deserialize, Default)]
#[serde(deny_unknown_fields, default)]
struct AnswerOptions {
    rerank: Option<String>,
    min_confidence: Option<f32>,
    max_sentences: Option<usize>,
    temperature: f32,
    max_tokens: Option<u32>,
    template: Option<String>,
}

const OPTIONS: [&str; 6] =
    ["rerank", "min_confidence", "max_sentences", "temperature", "max_tokens", "template"];

/// Options about what was asked before.
#[derive(Deserialize, Default)]
#[serde(deny_unknown_fields, default)]
struct Before {
    cache: Option<String>,
    cache_similarity: Option<f32>,
    conversation: Option<String>,
}

const BEFORE: [&str; 3] = ["cache", "cache_similarity", "conversation"];

/// Cosine from which on two questions may mean the same. Paraphrases have less, but so have
/// questions that differ in the one word that matters.
const SIMILAR: f32 = 0.95;

/// The arguments of `rag_answer` besides the question.
pub struct AnswerRequest<'a> {
    /// Name of the pipeline that is asked.
    pub pipeline: Option<&'a str>,
    /// How the chunks are put to the answerer.
    pub strategy: Option<&'a str>,
    /// How many chunks are read.
    pub k: Option<i32>,
    /// 'dense', 'lexical' or 'hybrid'.
    pub mode: Option<&'a str>,
    /// Conditions on the metadata.
    pub filter: Option<Jsonb>,
    /// 'extractive' or the foreign server that writes.
    pub llm: Option<&'a str>,
    /// All other options, as JSON.
    pub options: Option<Jsonb>,
}

/// An answer, and how it came about.
pub struct TracedAnswer {
    /// The answer and what it was made of.
    pub answer: Answer,
    /// Its row of `rag.trace_log`, if there is one.
    pub trace_id: Option<Uuid>,
    /// What was done, step by step, if the caller wants to know.
    pub steps: Vec<TraceStep>,
}

impl AnswerRequest<'_> {
    /// The answer, of which nothing is kept.
    pub fn answer(self, text: Option<&str>) -> Result<Answer> {
        let (text, search, writing) = self.prepare(text)?;
        answer::ask(&text, &search, &writing)
    }

    /// The answer; with its steps where they are wanted here or by `rag.trace`.
    pub fn traced_answer(self, text: Option<&str>, wants_steps: bool) -> Result<TracedAnswer> {
        self.refuse_if_not_kept();
        let level = guc::trace();
        let is_recorded = wants_steps || level != guc::TraceLevel::Off;
        let strategy = self.strategy.unwrap_or("auto").to_owned();
        let ((asked, answer), steps) = trace::recorded(is_recorded, || {
            let (text, search, writing) = self.prepare(text)?;
            let asked = asked(&text, strategy, &search, &writing);
            let answer = answer::ask(&text, &search, &writing)?;
            Ok(((asked, writing.conversation), answer))
        })?;
        let (asked, conversation) = asked;
        let trace_id = trace_log::keep(level, &asked, &answer, &steps)?;
        if let Some(conversation) = conversation {
            let standalone = asked.question.as_str();
            let question = text.unwrap_or(standalone);
            let turn = Turn { question, standalone, answer: &answer.text, trace: trace_id };
            conversation.append(&turn)?;
        }
        Ok(TracedAnswer { answer, trace_id, steps })
    }

    /// The answer, streamed while it is written.
    pub fn stream(self, text: Option<&str>) -> Result<AnswerStream> {
        self.refuse_if_not_kept();
        let level = guc::trace();
        let strategy = self.strategy.unwrap_or("auto").to_owned();
        let is_recorded = level != guc::TraceLevel::Off;
        let ((asked, conversation, stream), steps) = trace::recorded(is_recorded, || {
            let (standalone, search, mut writing) = self.prepare(text)?;
            let conversation = writing.conversation.take();
            let asked = asked(&standalone, strategy, &search, &writing);
            Ok((asked, conversation, answer::stream(&standalone, &search, writing)?))
        })?;
        let standalone = asked.question.clone();
        let stream = stream.recorded(Record { level, asked, steps });
        Ok(match conversation {
            Some(it) => stream.in_conversation(it, text.unwrap_or(&standalone), &standalone),
            None => stream,
        })
    }

    /// An error before anything is paid for, where the answer is to be kept in a conversation and
    /// cannot be.
    fn refuse_if_not_kept(&self) {
        let conversation = self.options.as_ref().and_then(|Jsonb(it)| it.get("conversation"));
        if conversation.is_some_and(|it| !it.is_null()) {
            sql::refuse_if_read_only(c"rag_answer() in a conversation");
        }
    }

    /// The messages in which a language model would be asked.
    pub fn prompt(self, text: Option<&str>) -> Result<Vec<Message>> {
        let (text, search, writing) = self.prepare(text)?;
        answer::messages(&text, &search, &writing)
    }

    /// The question as it is looked up, where it is looked up, and how the answer is written.
    pub fn prepare(self, text: Option<&str>) -> Result<(String, Search, answer::Writing)> {
        let strategy = strategy::named(self.strategy)?;
        let mut given = GivenOptions::of(self.options)?;
        let strategy_options: StrategyOptions = given.take(&strategy::KEYS)?;
        strategy_options.check(strategy)?;
        let options: AnswerOptions = given.take(&OPTIONS)?;
        let before: Before = given.take(&BEFORE)?;
        let context: ContextOptions = given.take(&options::KEYS)?;
        let trust: CheckArguments = given.take(&CheckArguments::OPTIONS)?;
        let retrieval: RetrieveOptions = given.rest()?;
        retrieval.check()?;
        let llm = Llm::or_default(self.llm)?;
        let conversation = before.conversation.as_deref().map(Conversation::find).transpose()?;
        let text = required_question(text)?;
        let text = match &conversation {
            Some(conversation) => conversation.condensed(text, &llm)?,
            None => text.to_owned(),
        };
        let k = self.k.or(Some(DEFAULT_K));
        let pipeline = route::pipeline_for(self.pipeline, &text, &retrieval, self.llm)?;
        let search = Search::new(&pipeline, k, self.mode, self.filter, retrieval)?
            .rewritten_by(None, self.llm)?
            .reranked_by(options.rerank.as_deref())?
            .with_parents();
        answer::check(&context, &search, &llm)?;
        let min_confidence = check_confidence(options.min_confidence)?.or_else(guc::min_confidence);
        let writing = answer::Writing {
            context,
            trust: trust.resolve(&llm, min_confidence)?,
            llm,
            strategy,
            strategy_options,
            template: options.template.as_deref().map(template::find).transpose()?,
            min_confidence,
            max_sentences: options.max_sentences,
            temperature: options.temperature,
            max_tokens: options.max_tokens,
            caching: before.cache.as_deref().map(caching).transpose()?,
            cache_similarity: check_similarity(before.cache_similarity)?,
            conversation,
        };
        Ok((text, search, writing))
    }
}

/// What is asked and what answers it, for the trace.
fn asked(
    question: &str,
    strategy: String,
    search: &Search,
    writing: &answer::Writing,
) -> trace_log::TracedQuestion {
    let (pipeline, llm) = (search.pipeline.name.clone(), writing.llm.name().to_owned());
    trace::remark(|| format!("pipeline {pipeline}, strategy {strategy}, llm {llm}"));
    trace_log::TracedQuestion { question: question.to_owned(), pipeline, strategy, llm }
}

fn caching(name: &str) -> Result<Caching> {
    match name {
        "off" => Ok(Caching::Off),
        "exact" => Ok(Caching::Exact),
        "semantic" => Ok(Caching::Semantic),
        _ => Err(Error::invalid(format!("unknown cache \"{name}\""))
            .hint("Known caches: off, exact, semantic.")),
    }
}

fn check_similarity(similarity: Option<f32>) -> Result<f32> {
    match similarity.unwrap_or(SIMILAR) {
        value if (0.0..=1.0).contains(&value) => Ok(value),
        value => Err(Error::invalid(format!("cache_similarity must be between 0 and 1: {value}"))),
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

/// The question, which can be searched for.
pub fn required_question(question: Option<&str>) -> Result<&str> {
    match question {
        None => Err(Error::new(ErrorKind::NullNotAllowed, "question must not be NULL")
            .hint("Ask something, for instance 'How do I reset a password?'.")),
        Some(text) if text.trim().is_empty() => Err(Error::invalid("question is empty")
            .hint("Ask something, for instance 'How do I reset a password?'.")),
        Some(text) => Ok(text),
    }
}
