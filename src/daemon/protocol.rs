//! What a session and ragd say to each other over the unix socket.
//!
//! A frame is a little-endian `u32` length and so many bytes of postcard. A connection
//! carries one request at a time; the session cancels by closing it. ragd answers each
//! request with exactly one [`Response`].

use std::fmt;

use serde::{Deserialize, Serialize};

use crate::chunk::{Chunk, ChunkOptions};
pub use crate::context::prompt::Message;
use crate::embed::Kind;
pub use crate::embed::manifest::Task;
use crate::error::{Error, ErrorKind, Result};
use crate::parse::{Limits, ParseOptions, Part};

/// Longest body of a frame, in bytes: a text value of PostgreSQL has at most 1 GB.
pub const MAX_FRAME: usize = 1 << 30;

/// Bytes of the length before a frame's body.
pub const HEADER: usize = 4;

/// What a session asks.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub enum Request {
    /// Is somebody there? Answered by [`Response::Status`].
    Status,
    /// Read a model's files. Answered by [`Response::Model`].
    Describe(ModelRef),
    /// Read documents. Answered by [`Response::Parts`], one result a document.
    Parse {
        /// The documents, whole.
        documents: Vec<Document>,
        /// How they are read.
        options: ParseOptions,
        /// Limit for each.
        timeout_ms: u64,
    },
    /// Cut documents. Answered by [`Response::Chunks`], one list a document.
    Chunk {
        /// Whose tokenizer measures.
        model: ModelRef,
        /// The documents, whole.
        documents: Vec<String>,
        /// How they are cut.
        options: ChunkOptions,
    },
    /// Turn texts into vectors. Answered by [`Response::Vectors`].
    Embed {
        /// Which model.
        model: ModelRef,
        /// What the texts are.
        kind: Kind,
        /// Which queue they wait in.
        lane: Lane,
        /// The texts.
        texts: Vec<String>,
    },
    /// Have a language model write. Answered by [`Response::Text`].
    Generate(GenerateRequest),
    /// Have a provider turn texts into vectors. Answered by [`Response::Vectors`].
    EmbedRemotely(EmbedRequest),
    /// Compare passages with a question: by a cross-encoder, or by the token vectors of an
    /// embedding model. Answered by [`Response::Scores`].
    Rerank {
        /// Which model.
        model: ModelRef,
        /// The question.
        query: String,
        /// The passages.
        passages: Vec<String>,
    },
}

/// A document as it came from its program.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Document {
    /// The file's bytes.
    #[serde(with = "serde_bytes")]
    pub bytes: Vec<u8>,
    /// Its MIME type; `None`: found out from the bytes.
    pub mime: Option<String>,
}

/// What ragd gives to the child process that reads one document.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct ParseJob<'a> {
    /// The file's bytes.
    #[serde(with = "serde_bytes")]
    pub bytes: &'a [u8],
    /// Its MIME type.
    pub mime: Option<&'a str>,
    /// How it is read.
    pub options: ParseOptions,
    /// How much it may be.
    pub limits: Limits,
}

/// What the child process answers: the parts, or why there are none.
pub type ParseOutcome = std::result::Result<Vec<Part>, Error>;

/// Which queue a text waits in: a person waits behind the first, a bulk load behind the second.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum Lane {
    /// Goes first.
    Query,
    /// Goes when no query waits.
    Bulk,
}

/// A model on disk.
#[derive(Clone, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct ModelRef {
    /// The name under which the user knows it, for messages.
    pub name: String,
    /// The folder, in Hugging Face layout.
    pub path: String,
    /// The ONNX file inside the folder; `None`: the usual places in turn.
    pub file: Option<String>,
    /// Hex SHA-256 over the files that matter, as [`ModelInfo::digest`] gave it;
    /// `None`: not pinned.
    pub digest: Option<String>,
}

/// What the files of a model say.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct ModelInfo {
    /// What it is for.
    pub task: Task,
    /// Length of its vectors, those of its tokens if it gives none for a text.
    pub dimension: u32,
    /// Longest input in tokens, special tokens included.
    pub max_tokens: u32,
    /// "mean", "cls" or "last".
    pub pooling: String,
    /// Whether its vectors have length 1.
    pub normalize: bool,
    /// Put before a query.
    pub query_prefix: String,
    /// Put before a passage.
    pub passage_prefix: String,
    /// The ONNX file used, relative to the folder.
    pub file: String,
    /// Hex SHA-256 over the ONNX file and the tokenizer and configuration files.
    pub digest: String,
}

/// The wire protocols that [`ProviderConfig::api`] can name.
pub const PROVIDER_APIS: &[&str] = &["openai"];

/// A chat completion to be made by a provider.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct GenerateRequest {
    /// Who makes it.
    pub provider: ProviderConfig,
    /// What was said so far, oldest first.
    pub messages: Vec<Message>,
    /// Sampling temperature; 0 is the most repeatable.
    pub temperature: f32,
    /// Longest answer in tokens; `None`: the provider's default.
    pub max_tokens: Option<u32>,
}

/// Texts to be embedded by a provider.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct EmbedRequest {
    /// Who does it, with which model.
    pub provider: ProviderConfig,
    /// Length of the vectors; `None`: the length that the model gives.
    pub dimension: Option<u32>,
    /// Whether somebody waits. Calls for [`Lane::Bulk`] fail with
    /// [`ErrorKind::ProviderBusy`] while the provider wants to be left alone.
    pub lane: Lane,
    /// The texts.
    pub texts: Vec<String>,
}

/// Where a provider is and how to speak to it; the options of a foreign server and its
/// user mapping.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct ProviderConfig {
    /// The foreign server's name, for messages.
    pub name: String,
    /// The wire protocol, one of [`PROVIDER_APIS`].
    pub api: String,
    /// Up to and including the version: `https://host/v1`.
    pub base_url: String,
    /// The model to ask for.
    pub model: String,
    /// Where the key is.
    pub api_key: KeySource,
    /// Limit for connecting.
    pub connect_timeout_ms: u64,
    /// Limit for the whole call, retries included.
    pub timeout_ms: u64,
    /// How often a call that failed for a passing reason is made again.
    pub max_retries: u32,
}

/// Where a provider's key is. Never printed.
#[derive(Clone, PartialEq, Eq, Serialize, Deserialize)]
pub enum KeySource {
    /// The server wants none.
    None,
    /// In the user mapping itself.
    Inline(String),
    /// In a file that ragd reads.
    File(String),
    /// In ragd's environment.
    Environment(String),
}

impl fmt::Debug for KeySource {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            KeySource::None => "None",
            KeySource::Inline(_) => "Inline(..)",
            KeySource::File(_) => "File(..)",
            KeySource::Environment(_) => "Environment(..)",
        })
    }
}

/// What ragd answers.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub enum Response {
    /// To [`Request::Status`].
    Status(Status),
    /// To [`Request::Describe`].
    Model(ModelInfo),
    /// To [`Request::Parse`]: a document that can't be read does not keep the others from it.
    Parts(Vec<ParseOutcome>),
    /// To [`Request::Chunk`].
    Chunks(Vec<Vec<Chunk>>),
    /// To [`Request::Embed`] and [`Request::EmbedRemotely`]: the vectors one after the other.
    Vectors {
        /// Length of each.
        dimension: u32,
        /// `dimension` times the number of texts.
        values: Vec<f32>,
        /// Tokens that went through the model, padding not counted; of a provider, those
        /// that it says it has read.
        tokens: u64,
    },
    /// To [`Request::Generate`].
    Text(Generated),
    /// To any of them.
    Failed(Error),
    /// To [`Request::Rerank`]: one score a passage, greater is better.
    Scores(Vec<f32>),
}

/// What a provider wrote.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Generated {
    /// The text of the first choice.
    pub text: String,
    /// "stop", "length", ... as the provider says.
    pub finish_reason: String,
    /// Tokens read, if the provider says.
    pub prompt_tokens: Option<u64>,
    /// Tokens written, if the provider says.
    pub completion_tokens: Option<u64>,
    /// Calls made, the retried ones included.
    pub attempts: u32,
}

/// How ragd is.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Status {
    /// Its process ID.
    pub pid: u32,
    /// The version of the package it was built from.
    pub version: String,
    /// Names of the models in memory.
    pub models: Vec<String>,
    /// Texts waiting in both lanes.
    pub waiting: u64,
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
