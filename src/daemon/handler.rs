//! Which request is it? Decode, call, encode.

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Arc;
use std::time::Duration;

use super::embed::{EmbedJob, Opening, check_size, embed, score, token_query};
use super::log;
use super::model::Reading;
use super::parse::Parsers;
use super::protocol::{EmbedRequest, Lane, ModelRef, Request, Response, Status, Task, decode};
use super::registry::Registry;
use super::worker::IsAlive;
use crate::chunk::{ChunkOptions, chunk};
use crate::embed::Kind;
use crate::embed::manifest::Manifest;
use crate::error::{Error, ErrorKind, Result};
use crate::provider::{self, Embedded, Memory};

/// What handlers share.
pub struct Handler {
    /// The models.
    pub registry: Registry,
    /// What was learned of providers.
    pub memory: Memory,
    /// The processes that read documents.
    pub parsers: Parsers,
}

/// An answer, and whether the connection can go on.
pub struct Answer {
    /// What to send.
    pub response: Response,
    /// False after a frame that was none: what follows it can't be trusted.
    pub go_on: bool,
}

impl Handler {
    /// Answers a frame's body. Never panics: a bug becomes an error of kind
    /// [`ErrorKind::Internal`].
    pub fn answer(&self, body: &[u8], is_alive: &IsAlive) -> Answer {
        let request = match decode::<Request>(body) {
            Ok(request) => request,
            Err(error) => return Answer { response: Response::Failed(error), go_on: false },
        };
        let result = catch_unwind(AssertUnwindSafe(|| self.handle(request, is_alive)));
        let response = match result {
            Ok(Ok(response)) => response,
            Ok(Err(error)) => Response::Failed(error),
            Err(panic) => Response::Failed(panicked(&*panic)),
        };
        Answer { response, go_on: true }
    }

    fn handle(&self, request: Request, is_alive: &IsAlive) -> Result<Response> {
        match request {
            Request::Status => Ok(Response::Status(self.status())),
            Request::Describe(model) => self.registry.describe(&model).map(Response::Model),
            Request::Parse { documents, options, timeout_ms } => {
                let timeout = Duration::from_millis(timeout_ms);
                self.parsers.parse(&documents, &options, timeout, is_alive).map(Response::Parts)
            }
            Request::Chunk { model, documents, options } => {
                self.chunk(&model, &documents, &options, is_alive)
            }
            Request::Embed { model, kind, lane, texts } => {
                self.embed(&model, (kind, lane), &texts, is_alive)
            }
            Request::Generate(request) => {
                provider::generate(&request, &self.memory, &|| !is_alive()).map(Response::Text)
            }
            Request::EmbedRemotely(request) => self.embed_remotely(&request, is_alive),
            Request::Rerank { model, query, passages } => {
                self.rerank(&model, &query, &passages, is_alive)
            }
        }
    }

    fn status(&self) -> Status {
        let (models, waiting) = self.registry.loaded();
        let version = env!("CARGO_PKG_VERSION").to_string();
        Status { pid: std::process::id(), version, models, waiting }
    }

    fn chunk(
        &self,
        model: &ModelRef,
        documents: &[String],
        options: &ChunkOptions,
        is_alive: &IsAlive,
    ) -> Result<Response> {
        let tokenizer = self.registry.tokenizer(model)?;
        let cut = |document: &String| {
            if is_alive() { chunk(document, options, &*tokenizer) } else { Err(gone()) }
        };
        documents.iter().map(cut).collect::<Result<_>>().map(Response::Chunks)
    }

    fn embed(
        &self,
        model: &ModelRef,
        (kind, lane): (Kind, Lane),
        texts: &[String],
        is_alive: &IsAlive,
    ) -> Result<Response> {
        let model = self.registry.model(model)?;
        if model.manifest.task != Task::Embed {
            let message = format!("model \"{}\" is a reranker and gives no vectors", model.name);
            return Err(Error::new(ErrorKind::WrongObjectType, message));
        }
        embed(&EmbedJob {
            worker: &model.worker,
            tokenizer: &model.tokenizer,
            dimension: model.manifest.dimension as usize,
            opening: Opening::Prefix(model.manifest.prefix(kind)),
            reading: Reading::Pooled,
            lane,
            texts,
            is_alive: Arc::clone(is_alive),
        })
    }

    /// Passages go by the bulk lane: there they lie sorted by length, and nobody's query waits
    /// behind fifty of them.
    fn rerank(
        &self,
        model: &ModelRef,
        query: &str,
        passages: &[String],
        is_alive: &IsAlive,
    ) -> Result<Response> {
        let model = self.registry.model(model)?;
        let job = EmbedJob {
            worker: &model.worker,
            tokenizer: &model.tokenizer,
            dimension: 1,
            opening: Opening::Question(query),
            reading: Reading::Score,
            lane: Lane::Bulk,
            texts: passages,
            is_alive: Arc::clone(is_alive),
        };
        match model.manifest.task {
            Task::Rerank => score(&job),
            Task::Embed => late_interaction(&model.manifest, job, query),
        }
    }

    fn embed_remotely(&self, request: &EmbedRequest, is_alive: &IsAlive) -> Result<Response> {
        check_size(request.texts.len(), request.dimension.unwrap_or(0) as usize)?;
        let Embedded { dimension, values, tokens } =
            provider::embed(request, &self.memory, &|| !is_alive())?;
        Ok(Response::Vectors { dimension, values, tokens })
    }
}

/// The question goes by the queries' lane, and the passages are compared with it as they come
/// out of the model.
fn late_interaction(manifest: &Manifest, passages: EmbedJob, query: &str) -> Result<Response> {
    let question = EmbedJob {
        dimension: manifest.dimension as usize,
        opening: Opening::Prefix(manifest.prefix(Kind::Query)),
        lane: Lane::Query,
        is_alive: Arc::clone(&passages.is_alive),
        reading: Reading::Tokens,
        ..passages
    };
    let query = Arc::new(token_query(&question, query)?);
    score(&EmbedJob {
        opening: Opening::Prefix(manifest.prefix(Kind::Passage)),
        reading: Reading::Match(query),
        ..passages
    })
}

fn gone() -> Error {
    Error::new(ErrorKind::DaemonLost, "the client has gone")
}

fn panicked(panic: &(dyn std::any::Any + Send)) -> Error {
    let text = panic
        .downcast_ref::<&str>()
        .map(|text| text.to_string())
        .or_else(|| panic.downcast_ref::<String>().cloned())
        .unwrap_or_else(|| "no message".to_string());
    log::line(format!("a request panicked: {text}"));
    Error::new(ErrorKind::Internal, format!("ragd failed on this request: {text}"))
}
