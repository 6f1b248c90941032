//! What the context is worth, without judgements: by the similarity of its sentences, or by a
//! language model.

use std::cell::Cell;
use std::collections::HashMap;

use pgrx::prelude::*;

use super::options::{ContextMeasure, EvalOptions};
use crate::context::Reading;
use crate::embed::{Embedder, EmbeddingKind};
use crate::error::Result;
use crate::eval::context::{best_similarity, sentences_of};
use crate::eval::judge;
use crate::eval::measure::{EvalMetric, Measure, Scores};
use crate::pg::catalog::evaluation::Case;
use crate::pg::ragd::call_context::CallContext;
use crate::pg::ragd::embed::Embedding;
use crate::pg::ragd::generate::{Sampling, generate};
use crate::pg::server::random;
use crate::protocol::ProviderConfig;
use crate::retrieve::Passage;
use crate::source::Source;

/// What judges contexts.
pub struct Judge {
    measure: ContextMeasure,
    k: u32,
    llm: Option<ProviderConfig>,
    /// Replies that were no grades.
    unread: Cell<u32>,
}

impl Judge {
    /// Fails where a language model is to judge and there is none.
    pub fn new(options: &EvalOptions) -> Result<Judge> {
        let llm = match options.context {
            ContextMeasure::Llm => {
                Some(options.judging_llm("a context", "the context similarity")?)
            }
            ContextMeasure::None | ContextMeasure::Similarity => None,
        };
        let unread = Cell::new(0);
        Ok(Judge { measure: options.context, k: options.context_k, llm, unread })
    }

    /// The contexts of one question.
    pub fn context<'a>(&'a self, case: &'a Case) -> JudgedContexts<'a> {
        JudgedContexts { judge: self, case, vectors: HashMap::new(), judged: HashMap::new() }
    }

    /// A warning if replies could not be read.
    pub fn warn(&self) {
        if let (Some(llm), count @ 1..) = (&self.llm, self.unread.get()) {
            warning!(
                "{count} of the replies of \"{}\" held no grades; those contexts have no context_relevance",
                llm.name
            );
        }
    }
}

/// The contexts that configurations find for one question. What they have in common is measured once.
pub struct JudgedContexts<'a> {
    judge: &'a Judge,
    case: &'a Case,
    vectors: HashMap<String, Vec<f32>>,
    judged: HashMap<Vec<(String, i32)>, Option<f64>>,
}

impl JudgedContexts<'_> {
    /// The scores of the first chunks.
    pub fn scores(&mut self, passages: &[Passage]) -> Result<Scores> {
        let first = &passages[..passages.len().min(self.judge.k as usize)];
        match self.judge.measure {
            ContextMeasure::None => Ok(Scores::new()),
            ContextMeasure::Similarity => self.similarities(first),
            ContextMeasure::Llm => self.relevance(first),
        }
    }

    fn similarities(&mut self, passages: &[Passage]) -> Result<Scores> {
        let sentences = sentences_of(passages.iter().map(|it| it.content.as_str()));
        let mut embedding = Embedding::with_model(None, CallContext::bulk())?;
        let sentences = self.embed(&mut embedding, &sentences)?;
        let question =
            embedding.embed(std::slice::from_ref(&self.case.question), EmbeddingKind::Query)?;
        // Nothing found is as far from the question as can be.
        let mut scores =
            vec![(EvalMetric::ContextSimilarity, best_similarity(&question, &sentences))];
        if !self.case.answers.is_empty() {
            let answers: Vec<&str> = self.case.answers.iter().map(String::as_str).collect();
            let answers = self.embed(&mut embedding, &answers)?;
            scores.push((EvalMetric::AnswerSimilarity, best_similarity(&answers, &sentences)));
        }
        let k = self.judge.k;
        let at_k = |(metric, best): (EvalMetric, Option<f64>)| {
            (Measure::at(metric, k), best.unwrap_or_default())
        };
        Ok(scores.into_iter().map(at_k).collect())
    }

    /// The vectors of texts; those known from another configuration are not made again.
    fn embed(&mut self, embedding: &mut Embedding, texts: &[&str]) -> Result<Vec<Vec<f32>>> {
        let is_new = |text: &&&str| !self.vectors.contains_key(**text);
        let new: Vec<String> = texts.iter().filter(is_new).map(|it| (*it).to_owned()).collect();
        if !new.is_empty() {
            let vectors = embedding.embed(&new, EmbeddingKind::Passage)?;
            self.vectors.extend(new.into_iter().zip(vectors));
        }
        Ok(texts.iter().filter_map(|text| self.vectors.get(*text).cloned()).collect())
    }

    fn relevance(&mut self, passages: &[Passage]) -> Result<Scores> {
        let key: Vec<_> = passages.iter().map(|it| (it.source_key.clone(), it.chunk_no)).collect();
        let relevance = match self.judged.get(&key) {
            Some(known) => *known,
            None => self.ask(passages)?,
        };
        self.judged.insert(key, relevance);
        let measure = Measure::at(EvalMetric::ContextRelevance, self.judge.k);
        Ok(relevance.map(|value| (measure, value)).into_iter().collect())
    }

    fn ask(&self, passages: &[Passage]) -> Result<Option<f64>> {
        let (Some(llm), false) = (&self.judge.llm, passages.is_empty()) else {
            return Ok(Some(0.0));
        };
        let whole = |it: &Passage| Reading::whole(Source::Chunk(it.clone())).prompt_source();
        let sources: Vec<_> = passages.iter().map(whole).collect();
        let messages = judge::messages(&self.case.question, &sources, &random::nonce()?);
        let reply = generate(llm, messages, Sampling::default(), &CallContext::bulk())?;
        let relevance = judge::relevance(&reply.text, passages.len());
        if relevance.is_none() {
            self.judge.unread.set(self.judge.unread.get() + 1);
        }
        Ok(relevance)
    }
}
