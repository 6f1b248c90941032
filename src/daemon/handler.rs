//! Which request is it? Decode, call, encode.

use std::collections::BTreeMap;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Arc;
use std::time::{Duration, Instant};

use super::at_once::generate_many;
use super::cache::Cache;
use super::client_aid::AidOfClient;
use super::embed::{EmbedJob, Opening, check_size, embed, score, token_query};
use super::local_model::child::describe;
use super::local_model::host::LocalModelHost;
use super::model::EmbeddingOutput;
use super::outbox::Outbox;
use super::parse::Parsers;
use super::registry::Registry;
use super::worker::{Client, IsAlive};
use super::{classify, late, log, reader};
use crate::chunk::{
    ChunkingMethod, ChunkingOptions, CutPlan, Findings, Tokenizer, WordMemo, chunk_knowing,
    plan_by_layout,
};
use crate::embed::EmbeddingKind;
use crate::embed::manifest::Manifest;
use crate::error::{Error, ErrorKind, Result};
use crate::protocol::{
    Call, EmbedRequest, GenerateRequest, Lane, ModelRef, ModelTask, Request, Response, Status,
    VectorKey, decode,
};
use crate::provider::schema::SchemaCheck;
use crate::provider::{self, Embedded, ProviderMemory, RankedPassages};
use crate::text::capitals::without_capitals;

/// What the handlers of all connections share.
pub struct HandlerContext {
    /// The models that are known, by their files.
    pub registry: Registry,
    /// What was learned of providers.
    pub memory: ProviderMemory,
    /// The processes that read documents.
    pub parsers: Parsers,
    /// The processes of local language models.
    pub local_models: Arc<LocalModelHost>,
    /// What may be wanted again.
    pub cache: Cache,
}

/// An answer, and whether the connection can go on.
pub struct HandlerReply {
    /// The response to be sent.
    pub response: Response,
    /// False after a frame that was none: what follows it can't be trusted.
    pub go_on: bool,
}

/// What is to be cut, and how.
struct ChunkWork<'a> {
    documents: &'a [String],
    options: &'a ChunkingOptions,
    distances: Vec<Vec<f32>>,
}

impl HandlerContext {
    /// Answers a frame's body. Pieces that can be sent before the answer go to `outbox`. Never
    /// panics: a bug becomes an error of kind [`ErrorKind::Internal`].
    pub fn answer(&self, body: &[u8], is_alive: &IsAlive, outbox: &mut Outbox<'_>) -> HandlerReply {
        let Call { role, request } = match decode::<Call>(body) {
            Ok(call) => call,
            Err(error) => return HandlerReply { response: Response::Failed(error), go_on: false },
        };
        let client = Client { role, is_alive: Arc::clone(is_alive) };
        let result = catch_unwind(AssertUnwindSafe(|| self.handle(request, &client, outbox)));
        let response = match result {
            Ok(Ok(response)) => response,
            Ok(Err(error)) => Response::Failed(error),
            Err(panic) => Response::Failed(panicked(&*panic)),
        };
        HandlerReply { response, go_on: true }
    }

    fn handle(
        &self,
        request: Request,
        client: &Client,
        outbox: &mut Outbox<'_>,
    ) -> Result<Response> {
        match request {
            Request::Status => Ok(Response::Status(self.status())),
            Request::Describe(model) => self.registry.describe(&model).map(Response::Model),
            Request::DescribeLocal { path } => describe(&path).map(Response::LocalModel),
            Request::Parse { documents, options, timeout_ms } => {
                let timeout = Duration::from_millis(timeout_ms);
                self.parsers.parse(&documents, &options, timeout, client).map(Response::Parts)
            }
            Request::Chunk { model, documents, options, distances } => {
                let work = ChunkWork { documents: &documents, options: &options, distances };
                self.chunk(&model, work, client)
            }
            Request::Embed { model, kind, lane, texts } => {
                let response = self.embed(&model, (kind, lane), &texts, client)?;
                let identity = (lane == Lane::Query).then(|| model.identity());
                self.keep_vector(identity, kind, &texts, &response);
                Ok(response)
            }
            Request::Generate(request) => {
                provider::generate(&request, &self.memory, &self.aid(client), &|| {
                    !client.is_alive()
                })
                .map(Response::Text)
            }
            Request::GenerateStream(request) => self.generate_stream(&request, client, outbox),
            Request::EmbedRemotely(request) => self.embed_remotely(&request, client),
            Request::RerankRemotely(request) => {
                let is_over = || !client.is_alive();
                let RankedPassages { scores, withheld } =
                    provider::rerank(&request, &self.memory, &self.aid(client), &is_over)?;
                Ok(Response::Scores { scores, tokens: 0, withheld })
            }
            Request::Rerank { model, query, passages } => {
                self.rerank(&model, &query, &passages, client)
            }
            Request::GenerateMany(many) => {
                Ok(Response::Texts(generate_many(&many, &self.memory, &self.aid(client), client)))
            }
            Request::RecallVector(key) => Ok(self.recall_vector(&key)),
            Request::Recall { scope, vector, at_least } => {
                let found = self.cache.recall(&scope, &vector, at_least, Instant::now());
                Ok(Response::Recalled(found))
            }
            Request::Remember(note) => {
                self.cache.keep(note, Instant::now());
                Ok(Response::Recalled(Vec::new()))
            }
            Request::CountTokens { model, texts } => self.count(&model, &texts, client),
            Request::EmbedInPlace { model, lane, documents } => {
                late::embed(&*self.registry.model(&model)?, lane, &documents, client)
            }
            Request::ScoreSpans { model, lane, question, passages } => {
                let reader = self.registry.reader(&model)?;
                reader::score_spans(&reader, lane, &question, &passages, client)
            }
            Request::RerankByReader { model, query, passages } => {
                reader::rerank(&*self.registry.reader(&model)?, &query, &passages, client)
            }
            Request::ClassifyTokens { model, lane, texts } => {
                classify::classify(&*self.registry.model(&model)?, lane, &texts, client)
            }
            Request::Calibrate(model) => {
                self.registry.calibration(&model).map(Response::Calibration)
            }
            Request::CheckSchema(schema) => {
                drop(self.aid(client).check(&schema, None)?);
                Ok(Response::ValidSchema)
            }
            Request::Heartbeat { timeout_ms } => {
                let hang = self.registry.hang(Duration::from_millis(timeout_ms));
                Ok(Response::Heartbeat { hang })
            }
        }
    }

    fn aid<'a>(&'a self, client: &'a Client) -> AidOfClient<'a> {
        AidOfClient { parsers: &self.parsers, registry: &self.registry, client }
    }

    fn status(&self) -> Status {
        let (mut models, waiting) = self.registry.loaded();
        models.extend(self.local_models.loaded());
        let version = env!("CARGO_PKG_VERSION").to_string();
        let (remembered, cache_hits) = self.cache.figures();
        Status { pid: std::process::id(), version, models, waiting, remembered, cache_hits }
    }

    fn recall_vector(&self, key: &VectorKey) -> Response {
        match self.cache.vector(key) {
            Some(values) => Response::Vectors { dimension: values.len() as u32, values, tokens: 0 },
            None => Response::Recalled(Vec::new()),
        }
    }

    /// Keeps the vector of a text that a user waits for; those of a bulk load are not asked for
    /// again.
    fn keep_vector(
        &self,
        model: Option<String>,
        kind: EmbeddingKind,
        texts: &[String],
        response: &Response,
    ) {
        if let (Some(model), [text], Response::Vectors { values, .. }) = (model, texts, response) {
            self.cache.keep_vector(&VectorKey { model, kind, text: text.clone() }, values);
        }
    }

    fn chunk(&self, model: &ModelRef, work: ChunkWork<'_>, client: &Client) -> Result<Response> {
        let ChunkWork { documents, options, distances } = work;
        let tokenizer = self.registry.tokenizer(model)?;
        let mut memo = WordMemo::default();
        let mut distances = distances.into_iter();
        let mut cut = |document: &String| {
            if !client.is_alive() {
                return Err(gone());
            }
            let plan = self.plan(document, options, client)?;
            let findings = Findings { plan, distances: distances.next() };
            chunk_knowing(document, findings, options, &*tokenizer, &mut memo)
        };
        documents.iter().map(&mut cut).collect::<Result<_>>().map(Response::Chunks)
    }

    fn count(&self, model: &ModelRef, texts: &[String], client: &Client) -> Result<Response> {
        let tokenizer = self.registry.tokenizer(model)?;
        let count = |text: &String| match client.is_alive() {
            true => Ok(tokenizer.count_tokens(text)? as u32),
            false => Err(gone()),
        };
        texts.iter().map(count).collect::<Result<_>>().map(Response::Counts)
    }

    /// Source code is parsed in a process of its own, as documents are. Where that fails it is
    /// cut by its layout.
    fn plan(
        &self,
        document: &str,
        options: &ChunkingOptions,
        client: &Client,
    ) -> Result<Option<CutPlan>> {
        if options.base_for(document) != ChunkingMethod::Code || document.trim().is_empty() {
            return Ok(None);
        }
        let found = self.parsers.plan(document, options, client)?;
        Ok(Some(found.unwrap_or_else(|| plan_by_layout(document))))
    }

    fn embed(
        &self,
        model: &ModelRef,
        (kind, lane): (EmbeddingKind, Lane),
        texts: &[String],
        client: &Client,
    ) -> Result<Response> {
        let model = self.registry.model(model)?;
        if model.manifest.task != ModelTask::Embed {
            return Err(model.wrong_task("gives no vectors"));
        }
        let asked: Vec<String> = match kind {
            EmbeddingKind::Query => {
                texts.iter().map(|it| without_capitals(it).into_owned()).collect()
            }
            EmbeddingKind::Passage => Vec::new(),
        };
        let texts = if kind == EmbeddingKind::Query { &asked[..] } else { texts };
        embed(&EmbedJob {
            worker: &model.worker,
            tokenizer: &model.tokenizer,
            dimension: model.manifest.dimension as usize,
            opening: Opening::Prefix(model.manifest.prefix(kind)),
            reading: EmbeddingOutput::Pooled,
            lane,
            texts,
            client: client.clone(),
        })
    }

    /// Passages go by the lane of fresh texts: there they lie sorted by length, and no query waits
    /// behind fifty of them.
    fn rerank(
        &self,
        model: &ModelRef,
        query: &str,
        passages: &[String],
        client: &Client,
    ) -> Result<Response> {
        let model = self.registry.model(model)?;
        let query = without_capitals(query);
        let job = EmbedJob {
            worker: &model.worker,
            tokenizer: &model.tokenizer,
            dimension: 1,
            opening: Opening::Question(&query),
            reading: EmbeddingOutput::Score,
            lane: Lane::Fresh,
            texts: passages,
            client: client.clone(),
        };
        let (scores, tokens) = match model.manifest.task {
            ModelTask::Rerank => score(&job)?,
            ModelTask::Embed => late_interaction(&model.manifest, job, &query)?,
            ModelTask::ClassifyTokens => return Err(model.wrong_task("gives no scores")),
        };
        Ok(Response::Scores { scores, tokens, withheld: BTreeMap::new() })
    }

    fn generate_stream(
        &self,
        request: &GenerateRequest,
        client: &Client,
        outbox: &mut Outbox<'_>,
    ) -> Result<Response> {
        let hear = &mut |piece: &str| outbox.add(piece);
        let outcome = provider::generate_stream(
            request,
            &self.memory,
            &self.aid(client),
            &|| !client.is_alive(),
            hear,
        );
        // What was written is sent, also where it ends in an error.
        outbox.flush()?;
        outcome.map(Response::Text)
    }

    fn embed_remotely(&self, request: &EmbedRequest, client: &Client) -> Result<Response> {
        check_size(request.texts.len(), request.dimension.unwrap_or(0) as usize)?;
        let Embedded { dimension, values, tokens, failed } =
            provider::embed(request, &self.memory, &self.aid(client), &|| !client.is_alive())?;
        if let Some(error) = failed {
            return Ok(Response::SomeVectors { dimension, values, tokens, error });
        }
        let response = Response::Vectors { dimension, values, tokens };
        let identity = (request.lane == Lane::Query).then(|| request.identity());
        self.keep_vector(identity, request.kind, &request.texts, &response);
        Ok(response)
    }
}

/// The question goes by the queries' lane, and the passages are compared with it as they come
/// out of the model.
fn late_interaction(
    manifest: &Manifest,
    passages: EmbedJob,
    query: &str,
) -> Result<(Vec<f32>, u64)> {
    let question = EmbedJob {
        dimension: manifest.dimension as usize,
        opening: Opening::Prefix(manifest.prefix(EmbeddingKind::Query)),
        lane: Lane::Query,
        client: passages.client.clone(),
        reading: EmbeddingOutput::Tokens,
        ..passages
    };
    let (query, of_query) = token_query(&question, query)?;
    let (scores, of_passages) = score(&EmbedJob {
        opening: Opening::Prefix(manifest.prefix(EmbeddingKind::Passage)),
        reading: EmbeddingOutput::Match(Arc::new(query)),
        ..passages
    })?;
    Ok((scores, of_query + of_passages))
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
