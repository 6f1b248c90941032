//! # protocol: what do a session and ragd say to each other?
//!
//! [`network`] says how a provider is reached, [`apis`] what it can be asked for, and [`generate`] how it is asked to
//! write; [`child`] is what ragd and its child processes say to each other, and [`local_model`] what it and the process
//! of a local language model do.
//!
//! A frame is a little-endian `u32` length and so many bytes of postcard. A connection
//! carries one request at a time; the session cancels by closing it. ragd answers each
//! request with exactly one [`Response`]; before it come any number of [`Response::Piece`] where
//! the request is a [`Request::GenerateStream`].

pub mod apis;
pub mod child;
pub mod generate;
pub mod local_model;
pub mod network;

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};
use sha2::{Digest, Sha256};

use crate::chunk::{Chunk, ChunkingOptions};
pub use crate::embed::manifest::ModelTask;
use crate::embed::reader::SpanScores;
use crate::embed::{EmbeddingKind, Spanned};
use crate::error::{Error, ErrorKind, Result};
use crate::parse::ParseOptions;
pub use crate::prompt::messages::Message;
pub use crate::prompt::sampling::SamplingParameters;
pub use crate::prompt::tools::{
    OfferedTool, RequestedCall, ToolReply, ToolTurn, ToolUse, WithoutTools,
};
use crate::redact::PiiKind;
use crate::text::token_labels::LabelledSpan;
pub use child::{ChildJob, ParseJob, ParseOutcome, SchemaOutcome};
pub use generate::{GenerateMany, GenerateOutcome, GenerateRequest, Generated};
pub use network::{
    CallLimits, GgufFile, HostRules, KeySource, LOCAL_API, Network, PROVIDER_APIS, PrivateHosts,
    ProviderConfig, RedactionPolicy, Special, ToolCalling, USUAL_LOCAL_CONTEXT, has_fit_port,
};

/// Longest body of a frame, in bytes: a text value of PostgreSQL has at most 1 GB.
pub const MAX_FRAME: usize = 1 << 30;

/// Bytes of the length before a frame's body.
pub const HEADER: usize = 4;

/// What a session asks, and on behalf of which role.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Call {
    /// The OID of the role: what can be had by few at a time is shared by roles.
    pub role: u32,
    /// What the session asks.
    pub request: Request,
}

/// Writes a [`Call`] as a frame. Fails as [`encode`] does.
pub fn encode_call(role: u32, request: &Request) -> Result<Vec<u8>> {
    // A pair is written as a structure of two is.
    encode(&(role, request))
}

/// What can be asked.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub enum Request {
    /// Does ragd run? Answered by [`Response::Status`].
    Status,
    /// Read a model's files. Answered by [`Response::Model`].
    Describe(ModelRef),
    /// Read the file of a local language model. Answered by [`Response::LocalModel`].
    DescribeLocal {
        /// The path of the file.
        path: String,
    },
    /// Read documents. Answered by [`Response::Parts`], one result a document.
    Parse {
        /// The bytes of the documents.
        documents: Vec<FileDocument>,
        /// How they are read.
        options: ParseOptions,
        /// Limit for each document, in milliseconds.
        timeout_ms: u64,
    },
    /// Cut documents. Answered by [`Response::Chunks`], one list a document.
    Chunk {
        /// The model whose tokenizer measures.
        model: ModelRef,
        /// The text of the documents.
        documents: Vec<String>,
        /// How they are cut.
        options: ChunkingOptions,
        /// For [`ChunkingMethod::Semantic`](crate::chunk::ChunkingMethod::Semantic), the distances between
        /// the sentences of each; else nothing.
        distances: Vec<Vec<f32>>,
    },
    /// Turn texts into vectors. Answered by [`Response::Vectors`].
    Embed {
        /// The model that embeds.
        model: ModelRef,
        /// What the texts are.
        kind: EmbeddingKind,
        /// Which queue they wait in.
        lane: Lane,
        /// The texts to be embedded.
        texts: Vec<String>,
    },
    /// Have a language model write. Answered by [`Response::Text`].
    Generate(GenerateRequest),
    /// Have a language model write, and pass on the text while it is written. Answered by any
    /// number of [`Response::Piece`], then by [`Response::Text`].
    GenerateStream(GenerateRequest),
    /// Have a provider turn texts into vectors. Answered by [`Response::Vectors`], or by
    /// [`Response::SomeVectors`].
    EmbedRemotely(EmbedRequest),
    /// Compare passages with a question: by a cross-encoder, or by the token vectors of an
    /// embedding model. Answered by [`Response::Scores`].
    Rerank {
        /// The model that compares.
        model: ModelRef,
        /// The question's text.
        query: String,
        /// The passages' texts.
        passages: Vec<String>,
    },
    /// Have the reader of an embedding model say how likely passages are to answer a question. Answered by
    /// [`Response::Scores`].
    RerankByReader {
        /// The embedding model whose reader it is.
        model: ModelRef,
        /// The question's text.
        query: String,
        /// The passages' texts.
        passages: Vec<String>,
    },
    /// Have a provider compare passages with a question. Answered by [`Response::Scores`].
    RerankRemotely(RerankRequest),
    /// Have a language model write several texts at once. Answered by [`Response::Texts`].
    GenerateMany(GenerateMany),
    /// Look whether a vector was made lately. Answered by [`Response::Vectors`], or by an empty
    /// [`Response::Recalled`].
    RecallVector(VectorKey),
    /// Look what was remembered. Answered by [`Response::Recalled`].
    Recall {
        /// The scope that it was remembered in (see [`Note::scope`]).
        scope: String,
        /// Near to what; empty: the one that was remembered without a vector.
        vector: Vec<f32>,
        /// Least cosine with the vector.
        at_least: f32,
    },
    /// Remember something. Answered by an empty [`Response::Recalled`].
    Remember(Note),
    /// Count the tokens of texts. Answered by [`Response::Counts`].
    CountTokens {
        /// The model whose tokenizer counts.
        model: ModelRef,
        /// The texts to be counted.
        texts: Vec<String>,
    },
    /// Turn places in documents into vectors, each in the light of its whole document. Answered by
    /// [`Response::Vectors`], one vector a place.
    EmbedInPlace {
        /// Which model, one that pools by the mean.
        model: ModelRef,
        /// Which queue they wait in.
        lane: Lane,
        /// The documents and their places.
        documents: Vec<Spanned>,
    },
    /// Find the names in texts. Answered by [`Response::Names`], one list a text.
    ClassifyTokens {
        /// The token classifier that finds them.
        model: ModelRef,
        /// Which queue the texts wait in.
        lane: Lane,
        /// The texts to be read.
        texts: Vec<String>,
    },
    /// What do the similarities of a model mean? Answered by [`Response::Calibration`].
    Calibrate(ModelRef),
    /// Have the reader of a model say of places in passages whether they answer a question. Answered by
    /// [`Response::SpanScores`].
    ScoreSpans {
        /// The embedding model whose reader it is.
        model: ModelRef,
        /// Which queue the passages wait in.
        lane: Lane,
        /// The question's text.
        question: String,
        /// The passages, with the places that something is to be said of.
        passages: Vec<Spanned>,
    },
    /// Look whether this text is a JSON schema. Answered by [`Response::ValidSchema`], or by an error that names the place
    /// where it is none.
    CheckSchema(String),
    /// Does anything hang? Answered by [`Response::Heartbeat`] at once, whatever else goes on.
    Heartbeat {
        /// How long what ragd does may stand still.
        timeout_ms: u64,
    },
}

/// What decides the vector of a text.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct VectorKey {
    /// Which model, by its files or its provider.
    pub model: String,
    /// What the text is.
    pub kind: EmbeddingKind,
    /// The text that is embedded.
    pub text: String,
}

/// A text to be remembered.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Note {
    /// All that it depends on, the role among it.
    pub scope: String,
    /// By what it is found; empty: by the scope alone.
    pub vector: Vec<f32>,
    /// The text that is remembered.
    pub text: String,
    /// How long it is remembered, in seconds.
    pub seconds: u32,
}

/// A text that was remembered.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct RecalledText {
    /// The text.
    pub text: String,
    /// The cosine of its vector with the one that was looked for; 1 without vectors.
    pub cosine: f32,
}

/// A document as it came from its program.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct FileDocument {
    /// The file's bytes.
    #[serde(with = "serde_bytes")]
    pub bytes: Vec<u8>,
    /// Its MIME type; `None`: found out from the bytes.
    pub mime: Option<String>,
}

/// Which queue a text waits in. Providers only see whether a user waits or not.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum Lane {
    /// Goes first: a person waits for it.
    Query,
    /// Goes next: many texts for which a person waits, or those of a few rows that have just changed.
    Fresh,
    /// Goes when nothing else waits.
    Bulk,
}

/// A model on disk.
#[derive(Clone, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct ModelRef {
    /// The name under which the user knows it, for messages.
    pub name: String,
    /// The folder, in Hugging Face layout.
    pub path: String,
    /// The ONNX file, or the table of static embeddings, inside the folder; `None`: the usual places
    /// in turn.
    pub file: Option<String>,
    /// Hex SHA-256 over the files that matter, as [`ModelInfo::digest`] gave it;
    /// `None`: not pinned.
    pub digest: Option<String>,
}

/// What the files of a model say.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct ModelInfo {
    /// What it is for.
    pub task: ModelTask,
    /// Length of its vectors, those of its tokens if it gives none for a text.
    pub dimension: u32,
    /// Longest input in tokens, special tokens included.
    pub max_tokens: u32,
    /// Whether it has a reader, which reads a question with passages.
    pub has_reader: bool,
    /// "mean", "cls" or "last".
    pub pooling: String,
    /// Whether its vectors have length 1.
    pub normalize: bool,
    /// Put before a query.
    pub query_prefix: String,
    /// Put before a passage.
    pub passage_prefix: String,
    /// The ONNX file or the table used, relative to the folder.
    pub file: String,
    /// Hex SHA-256 over this file and the tokenizer and configuration files.
    pub digest: String,
}

/// What the file of a local language model says.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct LocalModelInfo {
    /// The longest text that it was trained on, in tokens.
    pub context_tokens: u32,
    /// Hex SHA-256 of the file.
    pub digest: String,
}

/// Texts to be embedded by a provider.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct EmbedRequest {
    /// The provider that embeds, and with which model.
    pub provider: ProviderConfig,
    /// Length of the vectors; `None`: the length that the model gives.
    pub dimension: Option<u32>,
    /// Whether a user waits. Calls for [`Lane::Bulk`] fail with [`ErrorKind::ProviderBusy`] while
    /// the provider wants to be left alone.
    pub lane: Lane,
    /// What the texts are; some providers want to know.
    pub kind: EmbeddingKind,
    /// The texts to be embedded.
    pub texts: Vec<String>,
}

/// Passages to be compared with a question by a provider.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct RerankRequest {
    /// The provider that compares, and with which model.
    pub provider: ProviderConfig,
    /// The question's text.
    pub query: String,
    /// The passages' texts.
    pub passages: Vec<String>,
}

impl ModelRef {
    /// What decides the vectors of this model: its files, or the place of those that come with the
    /// package, which change with the package alone.
    #[must_use]
    pub fn identity(&self) -> String {
        let place = || format!("{} {:?}", self.path, self.file);
        self.digest.clone().unwrap_or_else(place)
    }
}

impl EmbedRequest {
    /// What decides the vectors of this model, as far as it is known outside its provider: which
    /// server is asked, by which way, with which key, and whose foreign server says so. The key
    /// cannot be read from it.
    #[must_use]
    pub fn identity(&self) -> String {
        let ProviderConfig { api, base_url, model, api_key, network, .. } = &self.provider;
        let key = match api_key {
            KeySource::None => ["", ""],
            KeySource::Inline(key) => ["key", key],
            KeySource::File(path) => ["file", path],
            KeySource::Environment(name) => ["environment", name],
        };
        let redact = (self.provider.special.redact, &self.provider.special.redact_model);
        let said = format!("{:?}", (api, base_url, model, self.dimension, network, key, redact));
        Sha256::digest(said).iter().map(|byte| format!("{byte:02x}")).collect()
    }
}

/// What ragd answers.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub enum Response {
    /// Answers [`Request::Status`].
    Status(Status),
    /// Answers [`Request::Describe`].
    Model(ModelInfo),
    /// Answers [`Request::DescribeLocal`].
    LocalModel(LocalModelInfo),
    /// Answers [`Request::Parse`]: a document that can't be read does not keep the others from it.
    Parts(Vec<ParseOutcome>),
    /// Answers [`Request::Chunk`]: the chunks of each document, in order.
    Chunks(Vec<Vec<Chunk>>),
    /// Answers [`Request::Embed`], [`Request::EmbedRemotely`] and [`Request::EmbedInPlace`]: the
    /// vectors one after the other.
    Vectors {
        /// Length of each vector.
        dimension: u32,
        /// `dimension` times the number of texts.
        values: Vec<f32>,
        /// Tokens that went through the model, padding not counted; of a provider, those
        /// that it says it has read.
        tokens: u64,
    },
    /// Answers [`Request::Generate`] and, after the pieces, [`Request::GenerateStream`].
    Text(Generated),
    /// Answers any request that has failed.
    Failed(Error),
    /// Answers [`Request::Rerank`], [`Request::RerankByReader`] and [`Request::RerankRemotely`].
    Scores {
        /// One a passage, from 0 to 1, greater is better.
        scores: Vec<f32>,
        /// Tokens that went through the model, padding not counted; 0 of a provider.
        tokens: u64,
        /// Personal data that were found in question and passages and not sent to a provider, but for those that
        /// [`Special::withheld`] has already.
        withheld: BTreeMap<String, PiiKind>,
    },
    /// Answers [`Request::GenerateStream`]: what has just been written. More is to come.
    Piece(String),
    /// Answers [`Request::GenerateMany`], in the order of the requests: a call that fails does not
    /// keep the others from their text.
    Texts(Vec<GenerateOutcome>),
    /// Answers [`Request::Recall`]: what was remembered, the nearest first.
    Recalled(Vec<RecalledText>),
    /// Answers [`Request::CountTokens`]: one number a text, special tokens not counted.
    Counts(Vec<u32>),
    /// Answers [`Request::EmbedRemotely`]: the vectors of the first texts, and why the others have none.
    SomeVectors {
        /// Length of each vector.
        dimension: u32,
        /// The vectors one after the other.
        values: Vec<f32>,
        /// Tokens that the provider says it has read for these.
        tokens: u64,
        /// What has kept the others from theirs.
        error: Error,
    },
    /// Answers [`Request::Calibrate`]: the text of its calibration, if it has one.
    Calibration(Option<String>),
    /// Answers [`Request::ScoreSpans`].
    SpanScores {
        /// Those of each place, of one passage after the other.
        scores: Vec<SpanScores>,
        /// Tokens that went through the model, padding not counted.
        tokens: u64,
    },
    /// Answers [`Request::ClassifyTokens`]: the names in each text, in order.
    Names(Vec<Vec<LabelledSpan>>),
    /// Answers [`Request::CheckSchema`].
    ValidSchema,
    /// Answers [`Request::Heartbeat`].
    Heartbeat {
        /// What hangs and since when, in words; `None`: nothing does.
        hang: Option<String>,
    },
}

/// The state of ragd.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Status {
    /// ragd's process ID.
    pub pid: u32,
    /// The version of the package it was built from.
    pub version: String,
    /// Names of the models in memory.
    pub models: Vec<String>,
    /// Texts waiting in both lanes.
    pub waiting: u64,
    /// Vectors and texts that are remembered.
    pub remembered: u64,
    /// How often one of them was of use.
    pub cache_hits: u64,
}

/// Writes `message` as a frame.
///
/// Fails if the body is longer than [`MAX_FRAME`].
pub fn encode<T: Serialize>(message: &T) -> Result<Vec<u8>> {
    let mut frame = postcard::to_extend(message, vec![0; HEADER]).map_err(|error| {
        Error::new(ErrorKind::Internal, format!("cannot encode frame: {error}"))
    })?;
    let length = frame.len() - HEADER;
    if length > MAX_FRAME {
        return Err(Error::new(
            ErrorKind::OutOfResources,
            format!("request of {length} bytes is longer than the limit of {MAX_FRAME}"),
        )
        .hint("Send fewer texts at a time."));
    }
    frame[..HEADER].copy_from_slice(&(length as u32).to_le_bytes());
    Ok(frame)
}

/// The length of the body that follows `header`.
pub fn body_length(header: [u8; HEADER]) -> Result<usize> {
    let length = u32::from_le_bytes(header) as usize;
    if length > MAX_FRAME {
        return Err(Error::new(
            ErrorKind::DataCorrupted,
            format!("frame says it has {length} bytes, the limit is {MAX_FRAME}"),
        ));
    }
    Ok(length)
}

/// Reads a frame's body.
pub fn decode<'a, T: Deserialize<'a>>(body: &'a [u8]) -> Result<T> {
    postcard::from_bytes(body).map_err(|error| {
        Error::new(ErrorKind::DataCorrupted, format!("cannot decode frame: {error}"))
    })
}
