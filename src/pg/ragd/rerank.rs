//! Rerankers, seen from a session.

use super::calibration::retrieval_weights;
use super::call_context::CallContext;
use super::generate::{Sampling, generate};
use super::llm::Llm;
use super::{client, provider};
use crate::embed::reader::{no_reader, opening};
use crate::error::Result;
use crate::pg::catalog::{model, template};
use crate::pg::server::error::unexpected;
use crate::pg::server::random;
use crate::protocol::{
    ModelRef, ModelTask, ProviderConfig, RedactionPolicy, Request, RerankRequest, Response,
};
use crate::redact::withheld::WithheldValues;
use crate::rerank::{LATE_INTERACTION, LLM, READER, judge};
use crate::retrieve::{Hit, RetrieveOptions, rank};

/// Passages sent to ragd in one request, so that cancel and memory stay bounded.
const PASSAGES_A_REQUEST: usize = 256;

/// Longest answer of a language model that grades, in tokens.
const GRADES: u32 = 400;

/// Share of late interaction in the score, for models that nothing was fitted to.
const LATE_INTERACTION_WEIGHT: f64 = 0.5;

/// What reads passages again.
pub enum Reranker {
    /// A cross-encoder.
    CrossEncoder(ModelRef),
    /// The token vectors of an embedding model.
    LateInteraction(ModelRef),
    /// The reader of an embedding model.
    Reader(ModelRef),
    /// A model behind a server.
    Remote(Box<ProviderConfig>),
    /// A language model.
    Judge(Box<ProviderConfig>),
}

impl Reranker {
    /// 'late_interaction', 'reader', 'llm' or the name of a model; `embedding` is whose token vectors late
    /// interaction compares, or whose reader reads, by default those of `rag.embedding_model`, and `llm` the language
    /// model that grades, by default that of `rag.llm`.
    ///
    /// An embedding model behind a server shows no token vectors and has no reader: those of the built-in one
    /// stand in.
    pub fn named(name: &str, embedding: Option<&str>, llm: Option<&str>) -> Result<Reranker> {
        match name {
            LATE_INTERACTION => Ok(Reranker::LateInteraction(model::find(embedding)?.reference)),
            READER => Ok(Reranker::Reader(model::find(embedding)?.reference)),
            LLM => {
                let llm = Llm::or_default(llm)?;
                let llm = llm.provider_for("rerank \"llm\"");
                let llm = llm.map_err(|error| {
                    error
                        .hint("SET rag.llm to the name of a foreign server of the wrapper rag_llm.")
                })?;
                Ok(Reranker::Judge(Box::new(llm.clone())))
            }
            _ => Reranker::model(name),
        }
    }

    /// The registered model called `name`.
    pub fn model(name: &str) -> Result<Reranker> {
        let model = model::find_reranker(name)?;
        if let Some(remote) = &model.remote {
            let config = provider::embedding_config(&remote.server, Some(&remote.model))?;
            return Ok(Reranker::Remote(Box::new(config)));
        }
        Ok(match model.task {
            ModelTask::Embed => Reranker::LateInteraction(model.reference),
            ModelTask::Rerank | ModelTask::ClassifyTokens => {
                Reranker::CrossEncoder(model.reference)
            }
        })
    }

    /// The same, which keeps these values from its provider, and adds to them what it keeps from it.
    #[must_use]
    pub fn withholding(mut self, values: &WithheldValues) -> Reranker {
        if let Reranker::Remote(provider) | Reranker::Judge(provider) = &mut self {
            provider.special.withheld = values.clone();
        }
        self
    }

    /// The name that users write.
    pub fn name(&self) -> &str {
        match self {
            Reranker::CrossEncoder(model) => &model.name,
            Reranker::LateInteraction(_) => LATE_INTERACTION,
            Reranker::Reader(_) => READER,
            Reranker::Remote(provider) => &provider.name,
            Reranker::Judge(llm) => &llm.name,
        }
    }

    /// Fails where it is a reader and the model, by its files, has none.
    pub fn check(&self) -> Result<()> {
        let Reranker::Reader(model) = self else { return Ok(()) };
        match client::call(&Request::Describe(model.clone()))? {
            Response::Model(info) if info.has_reader => Ok(()),
            Response::Model(_) => Err(no_reader(&model.name)),
            other => Err(unexpected(&other)),
        }
    }

    /// One score a passage, greater is better, from 0 to 1. An error where a language model gives no
    /// grades.
    pub fn scores(
        &self,
        query: &str,
        passages: &[String],
        context: &CallContext,
    ) -> Result<Vec<f32>> {
        self.read(query, passages, context)?.map_err(|answer| judge::no_grades(&answer))
    }

    /// The scores, or what a language model has said that gives no grades.
    fn read(
        &self,
        query: &str,
        passages: &[String],
        context: &CallContext,
    ) -> Result<Result<Vec<f32>, String>> {
        match self {
            Reranker::CrossEncoder(model)
            | Reranker::LateInteraction(model)
            | Reranker::Reader(model) => {
                let parts = passages.chunks(PASSAGES_A_REQUEST);
                let scores: Result<Vec<_>> =
                    parts.map(|part| self.compare(model, query, part)).collect();
                Ok(Ok(scores?.concat()))
            }
            Reranker::Remote(provider) => {
                let parts = passages.chunks(PASSAGES_A_REQUEST);
                let scores: Result<Vec<_>> =
                    parts.map(|part| compare_remotely(provider, query, part, context)).collect();
                Ok(Ok(scores?.concat()))
            }
            Reranker::Judge(llm) => {
                let mut scores = Vec::with_capacity(passages.len());
                for part in passages.chunks(judge::PASSAGES_A_CALL) {
                    match grade(llm, query, part, context)? {
                        Ok(grades) => scores.extend(grades),
                        Err(answer) => return Ok(Err(answer)),
                    }
                }
                Ok(Ok(scores))
            }
        }
    }

    /// The first of `hits` in a new order. Where a language model gives no grades they stay as they are,
    /// and a remark says so: one word of a model too many is no reason to find nothing.
    pub fn rerank(
        &self,
        query: &str,
        hits: Vec<Hit>,
        options: &RetrieveOptions,
        context: &CallContext,
    ) -> Result<(Vec<Hit>, Option<String>)> {
        let first = hits.iter().take(options.rerank_candidates as usize);
        let passages: Vec<String> = first.map(|hit| self.text(hit)).collect();
        let scores: Vec<f64> = match self.read(query, &passages, context)? {
            Ok(scores) => scores.into_iter().map(f64::from).collect(),
            Err(answer) => return Ok((hits, Some(judge::remark(&answer)))),
        };
        let weight = match options.rerank_weight {
            Some(weight) => weight,
            None => self.usual_weight()?,
        };
        Ok((rank::reranked(hits, &scores, weight), None))
    }

    /// What is read of a hit. A reader was trained on passages under their headings.
    fn text(&self, Hit { passage, .. }: &Hit) -> String {
        match self {
            Reranker::Reader(_) => opening(passage.heading.as_deref()) + &passage.content,
            _ => passage.content.clone(),
        }
    }

    /// The scores of so many passages as one request takes, by a model of ragd.
    fn compare(&self, model: &ModelRef, query: &str, passages: &[String]) -> Result<Vec<f32>> {
        let (model, query, passages) = (model.clone(), query.to_owned(), passages.to_vec());
        let count = passages.len();
        let request = match self {
            Reranker::Reader(_) => Request::RerankByReader { model, query, passages },
            _ => Request::Rerank { model, query, passages },
        };
        scored(client::call(&request)?, count)
    }

    /// Token vectors that were not trained for it do better together with the search, how much was perhaps fitted to
    /// their model; a model that was knows best.
    fn usual_weight(&self) -> Result<f64> {
        match self {
            Reranker::LateInteraction(model) => {
                let fitted = retrieval_weights(model)?.late_interaction_weight;
                Ok(fitted.unwrap_or(LATE_INTERACTION_WEIGHT))
            }
            Reranker::CrossEncoder(_)
            | Reranker::Reader(_)
            | Reranker::Remote(_)
            | Reranker::Judge(_) => Ok(1.0),
        }
    }
}

fn compare_remotely(
    provider: &ProviderConfig,
    query: &str,
    passages: &[String],
    context: &CallContext,
) -> Result<Vec<f32>> {
    let withheld = &provider.special.withheld;
    let (provider, query, passages) = (provider.clone(), query.to_owned(), passages.to_vec());
    let count = passages.len();
    let request = Request::RerankRemotely(RerankRequest { provider, query, passages });
    let response = client::call_for(context.pipeline, &request);
    let response = response.inspect_err(|error| withheld.add_of_error(error))?;
    if let Response::Scores { withheld: found, .. } = &response {
        withheld.add(found.clone());
    }
    scored(response, count)
}

fn scored(response: Response, count: usize) -> Result<Vec<f32>> {
    match response {
        Response::Scores { scores, .. } if scores.len() == count => Ok(scores),
        other => Err(unexpected(&other)),
    }
}

/// The grades, or what was said instead: nothing where that may have personal data in it, since messages are logged.
fn grade(
    llm: &ProviderConfig,
    query: &str,
    passages: &[String],
    context: &CallContext,
) -> Result<Result<Vec<f32>, String>> {
    let texts: Vec<&str> = passages.iter().map(String::as_str).collect();
    let template = template::find(judge::TEMPLATE)?;
    let messages = judge::messages(&template, query, &texts, &random::nonce()?)?;
    let answer = generate(llm, messages, Sampling::probable(Some(GRADES)), context)?;
    let shown = match llm.special.redact {
        RedactionPolicy::Pii => String::new(),
        RedactionPolicy::Nothing => answer.text.clone(),
    };
    Ok(judge::scores(&answer.text, passages.len()).ok_or(shown))
}
