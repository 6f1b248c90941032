//! # What does a model's folder say about it?
//!
//! ```text
//! folder in Hugging Face layout → dimension, pooling, prefixes, ... and the files that decide them
//! ```
//!
//! The layout is that of sentence-transformers: `config.json` describes the transformer,
//! `modules.json` lists what comes after it, each module in a folder of its own. A folder without
//! `modules.json` is taken for a plain transformer with mean pooling and normalisation, which is
//! what is mostly meant by one.
//!
//! A folder of static embeddings is told by its `config.json`, too, and read by
//! `manifest/static_embeddings.rs`.
//!
//! What this version cannot compute (a dense layer, max pooling) is refused by name:
//! vectors that are nearly right are worse than none.

mod static_embeddings;

use std::fs;
use std::io::{self, Read};
use std::path::{Component, Path, PathBuf};

use serde_json::Value;

use super::calibration::{CALIBRATION_FILE, Calibration};
use super::model_file::{corrupted, number, unsupported};
use super::pooling::Pooling;
use super::safetensors::{self, PREFIX};
use super::static_table::TableLayout;
pub use super::task::ModelTask;
use super::task::{entailment, task, token_labels};
use crate::error::{Error, ErrorKind, Result};
use crate::text::token_labels::TokenLabels;

/// Where the ONNX file is looked for when none is named.
const ONNX_FILES: [&str; 4] =
    ["model.onnx", "onnx/model.onnx", "onnx/model_quantized.onnx", "onnx/model_int8.onnx"];

/// The graph of the reader that belongs to an embedding model and shares its tokenizer.
const READER: &str = "onnx/reader_int8.onnx";

const TOKENIZER: &str = "tokenizer.json";
const CONFIG: &str = "config.json";
const MODULES: &str = "modules.json";
const SENTENCE_CONFIG: &str = "sentence_bert_config.json";
const TOKENIZER_CONFIG: &str = "tokenizer_config.json";
const PROMPTS: &str = "config_sentence_transformers.json";
const POOLING_FOLDER: &str = "1_Pooling";

/// Longest input of a model that doesn't say.
const DEFAULT_MAX_TOKENS: u64 = 512;

/// "No limit" is written as a number like 10^30 in `tokenizer_config.json`.
const SANE_MAX_TOKENS: u64 = 1 << 20;

/// What the files of a model say, and which they are.
#[derive(Clone, Debug, PartialEq)]
pub struct Manifest {
    /// The folder, absolute and without symbolic links.
    pub folder: PathBuf,
    /// The ONNX file, relative to the folder; of static embeddings, the file of the table.
    pub file: String,
    /// Where the numbers of the table are in that file, if it is one of static embeddings. Such a
    /// model has no graph.
    pub table: Option<TableLayout>,
    /// Every file that decides what vectors come out, relative to the folder, in a fixed
    /// order: the ONNX file, the weights beside it, the tokenizer, the configuration.
    pub files: Vec<String>,
    /// Optional configuration files that are not there; were one added, vectors could change.
    pub absent: Vec<String>,
    /// What it is for.
    pub task: ModelTask,
    /// Which of its numbers says that the second text follows from the first, from 0, if it is a
    /// model of natural language inference. Such a model scores pairs, as a reranker does.
    pub entailment: Option<usize>,
    /// The labels of tokens, if it is a token classification.
    pub labels: Option<TokenLabels>,
    /// Length of the vectors; of a model that gives none, inside it.
    pub dimension: u32,
    /// Longest input in tokens, special tokens included.
    pub max_tokens: u32,
    /// The token that fills short texts up.
    pub pad_token: u32,
    /// Which tokens make the vector.
    pub pooling: Pooling,
    /// Whether vectors are scaled to length 1.
    pub normalize: bool,
    /// Put before a query.
    pub query_prefix: String,
    /// Put before a passage.
    pub passage_prefix: String,
    /// The ONNX file of the model's reader, relative to the folder, if there is one.
    pub reader: Option<String>,
    /// What its similarities mean, if a file says so.
    pub calibration: Option<Box<Calibration>>,
}

impl Manifest {
    /// Reads the model in `folder`, with the ONNX file or the table `file`, or the first of the
    /// usual ones.
    ///
    /// Fails with [`ErrorKind::FileUnavailable`] if a file is missing, with
    /// [`ErrorKind::FileCorrupted`] if one can't be understood, with
    /// [`ErrorKind::Unsupported`] if the model does something that pg_rag doesn't.
    pub fn read(folder: &str, file: Option<&str>) -> Result<Manifest> {
        let mut files = Folder::open(folder)?;
        if static_embeddings::are_in(&files) {
            return static_embeddings::read(files, file);
        }
        let onnx = files.onnx(file)?;
        files.require(TOKENIZER)?;
        let config = files.require_json(CONFIG)?;
        let path = files.path.join(CONFIG);
        let task = task(&path, &config)?;
        let entailment = entailment(&config).filter(|_| task == ModelTask::Rerank);
        let labels = match task {
            ModelTask::ClassifyTokens => Some(token_labels(&path, &config)?),
            ModelTask::Embed | ModelTask::Rerank => None,
        };
        let modules = match task {
            ModelTask::Embed => Modules::read(&mut files)?,
            ModelTask::Rerank | ModelTask::ClassifyTokens => {
                Modules { pooling: Pooling::Cls, normalize: false }
            }
        };
        let prompts = files.json(PROMPTS)?.unwrap_or(Value::Null);
        let max_tokens = max_tokens(&mut files, &config)?;
        // Of other models they decide nothing.
        let (reader, calibration) = match task {
            ModelTask::Embed => (files.optional(READER)?, files.calibration()?),
            ModelTask::Rerank | ModelTask::ClassifyTokens => (None, None),
        };
        Ok(Manifest {
            task,
            entailment,
            labels,
            dimension: dimension(&files, &config)?,
            max_tokens,
            pad_token: number(&config, "pad_token_id").unwrap_or(0) as u32,
            pooling: modules.pooling,
            normalize: modules.normalize,
            query_prefix: prompt(&prompts, &["query"]),
            passage_prefix: prompt(&prompts, &["document", "passage", "corpus"]),
            reader,
            calibration: calibration.map(Box::new),
            folder: files.path,
            file: onnx,
            table: None,
            files: files.used,
            absent: files.absent,
        })
    }

    /// The model's reader, if there is one: a reranker that tells of each token whether it answers.
    #[must_use]
    pub fn reader(&self) -> Option<Manifest> {
        let (file, task) = (self.reader.clone()?, ModelTask::Rerank);
        Some(Manifest { file, task, entailment: None, reader: None, ..self.clone() })
    }

    /// The full path of one of [`Manifest::files`].
    pub fn path(&self, file: &str) -> PathBuf {
        self.folder.join(file)
    }

    /// The tokenizer's full path.
    pub fn tokenizer_path(&self) -> PathBuf {
        self.path(TOKENIZER)
    }

    /// The full path of the ONNX file or of the table.
    pub fn file_path(&self) -> PathBuf {
        self.path(&self.file)
    }

    /// The prefix of a text of this kind.
    pub fn prefix(&self, kind: super::EmbeddingKind) -> &str {
        match kind {
            super::EmbeddingKind::Query => &self.query_prefix,
            super::EmbeddingKind::Passage => &self.passage_prefix,
        }
    }
}

/// A model's folder, and what was looked for in it.
struct Folder {
    path: PathBuf,
    used: Vec<String>,
    absent: Vec<String>,
}

impl Folder {
    fn open(folder: &str) -> Result<Folder> {
        let path =
            fs::canonicalize(folder).map_err(|error| unavailable("folder", folder, &error))?;
        if !path.is_dir() {
            return Err(Error::new(
                ErrorKind::FileUnavailable,
                format!("\"{folder}\" is not a folder"),
            )
            .hint("A model is a folder with an ONNX file, tokenizer.json and config.json."));
        }
        Ok(Folder { path, used: Vec::new(), absent: Vec::new() })
    }

    /// Finds the ONNX file, and the files of weights beside it.
    fn onnx(&mut self, file: Option<&str>) -> Result<String> {
        let onnx = match file {
            Some(file) => file.to_string(),
            None => self.usual_onnx()?.to_string(),
        };
        self.require(&onnx)?;
        for weights in self.external_weights(&onnx)? {
            self.require(&weights)?;
        }
        Ok(onnx)
    }

    fn usual_onnx(&self) -> Result<&'static str> {
        ONNX_FILES.into_iter().find(|file| self.path.join(file).is_file()).ok_or_else(|| {
            Error::new(
                ErrorKind::FileUnavailable,
                format!("no ONNX file in \"{}\"", self.path.display()),
            )
            .detail(format!("Looked for {}.", ONNX_FILES.join(", ")))
            .hint("Name the file, or convert the model to ONNX.")
        })
    }

    /// Files beside the ONNX file whose names begin with its name: `model.onnx_data`,
    /// `model.onnx.data`, ... hold the weights of models over 2 GB.
    fn external_weights(&self, onnx: &str) -> Result<Vec<String>> {
        let (parent, name) = match onnx.rsplit_once('/') {
            Some((parent, name)) => (format!("{parent}/"), name),
            None => (String::new(), onnx),
        };
        let folder = self.path.join(&parent);
        let entries = fs::read_dir(&folder)
            .map_err(|error| unavailable("folder", folder.display(), &error))?;
        let mut weights: Vec<String> = entries
            .filter_map(|entry| entry.ok()?.file_name().into_string().ok())
            .filter(|other| is_external_weights(name, other))
            .map(|other| format!("{parent}{other}"))
            .collect();
        weights.sort();
        Ok(weights)
    }

    /// Notes that `file` is used; fails if it isn't there.
    fn require(&mut self, file: &str) -> Result<PathBuf> {
        let path = self.resolve(file)?;
        if !self.used.iter().any(|used| used == file) {
            self.used.push(file.to_string());
        }
        Ok(path)
    }

    /// The real path of `file`, which must be a file inside the folder.
    fn resolve(&self, file: &str) -> Result<PathBuf> {
        let plain = Path::new(file).components().all(|part| matches!(part, Component::Normal(_)));
        if !plain || file.is_empty() {
            return Err(leaves(file, &self.path));
        }
        let path = self.path.join(file);
        let real =
            fs::canonicalize(&path).map_err(|error| unavailable("file", path.display(), &error))?;
        if !real.starts_with(self.root()) {
            return Err(leaves(file, &self.path));
        }
        if !real.is_file() {
            let message = format!("\"{}\" is not a regular file", path.display());
            return Err(Error::new(ErrorKind::FileUnavailable, message));
        }
        Ok(real)
    }

    /// Where symbolic links may lead: the folder itself, or, in Hugging Face's own cache
    /// (`models--x/snapshots/REVISION` links to `models--x/blobs`), the repository.
    fn root(&self) -> &Path {
        match self.path.parent() {
            Some(parent) if parent.ends_with("snapshots") => parent.parent().unwrap_or(&self.path),
            _ => &self.path,
        }
    }

    /// The JSON of a file, if it can be read. Nothing is noted of it.
    fn peek(&self, file: &str) -> Option<Value> {
        let text = fs::read(self.resolve(file).ok()?).ok()?;
        serde_json::from_slice(&text).ok()
    }

    fn require_json(&mut self, file: &str) -> Result<Value> {
        let path = self.require(file)?;
        let text = fs::read(&path).map_err(|error| unavailable("file", path.display(), &error))?;
        serde_json::from_slice(&text)
            .map_err(|error| corrupted(&self.path.join(file), &format!("it is not JSON ({error})")))
    }

    /// The JSON of an optional file; `None` if there is no such file.
    fn json(&mut self, file: &str) -> Result<Option<Value>> {
        self.optional(file)?.map(|file| self.require_json(&file)).transpose()
    }

    /// The name of an optional file; `None` if there is no such file.
    fn optional(&mut self, file: &str) -> Result<Option<String>> {
        if self.path.join(file).exists() {
            return self.require(file).map(|_| Some(file.to_owned()));
        }
        self.absent.push(file.to_owned());
        Ok(None)
    }

    /// What the header of the table at `path` says, of which no more than that is read.
    fn table(path: &Path) -> Result<TableLayout> {
        let failed = |error: io::Error| unavailable("file", path.display(), &error);
        let mut file = fs::File::open(path).map_err(failed)?;
        let length = file.metadata().map_err(failed)?.len();
        let mut prefix = Vec::with_capacity(PREFIX);
        file.by_ref().take(PREFIX as u64).read_to_end(&mut prefix).map_err(failed)?;
        let prefix: [u8; PREFIX] =
            prefix.try_into().map_err(|_| corrupted(path, "it has no header"))?;
        let bytes = safetensors::header_length(prefix, length);
        let bytes = bytes.map_err(|why| corrupted(path, &why))?;
        let mut header = Vec::new();
        file.take(bytes).read_to_end(&mut header).map_err(failed)?;
        TableLayout::read(path, &header, length)
    }

    fn calibration(&mut self) -> Result<Option<Calibration>> {
        let Some(json) = self.json(CALIBRATION_FILE)? else { return Ok(None) };
        let calibration = Calibration::parse(&json.to_string());
        calibration
            .map(Some)
            .map_err(|error| corrupted(&self.path.join(CALIBRATION_FILE), error.message()))
    }
}

/// What comes after the transformer.
struct Modules {
    pooling: Pooling,
    normalize: bool,
}

impl Modules {
    fn read(files: &mut Folder) -> Result<Modules> {
        let Some(list) = files.json(MODULES)? else {
            let pooling = pooling(files, POOLING_FOLDER)?;
            return Ok(Modules { pooling, normalize: true });
        };
        let path = files.path.join(MODULES);
        let list = list.as_array().ok_or_else(|| corrupted(&path, "it is not a list"))?;
        let mut modules = Modules { pooling: Pooling::Mean, normalize: false };
        for module in list {
            modules.add(files, module)?;
        }
        Ok(modules)
    }

    fn add(&mut self, files: &mut Folder, module: &Value) -> Result<()> {
        let path = files.path.join(MODULES);
        let kind = module["type"].as_str().ok_or_else(|| corrupted(&path, "a type is missing"))?;
        match kind.rsplit('.').next().unwrap_or(kind) {
            "Transformer" => Ok(()),
            "Normalize" => {
                self.normalize = true;
                Ok(())
            }
            "Pooling" => {
                let folder = module["path"].as_str().unwrap_or(POOLING_FOLDER);
                self.pooling = pooling(files, folder)?;
                Ok(())
            }
            _ => Err(unsupported(&path, &format!("module \"{kind}\""))
                .hint("Models of a transformer, a pooling and a normalisation are supported.")),
        }
    }
}

fn pooling(files: &mut Folder, folder: &str) -> Result<Pooling> {
    let file = format!("{folder}/config.json");
    let Some(config) = files.json(&file)? else { return Ok(Pooling::Mean) };
    let path = files.path.join(&file);
    let modes = pooling_modes(&config);
    if config["include_prompt"] == Value::Bool(false) {
        return Err(unsupported(&path, "pooling that leaves the prompt out"));
    }
    match modes.as_slice() {
        ["mean"] | ["mean_tokens"] => Ok(Pooling::Mean),
        ["cls"] | ["cls_token"] => Ok(Pooling::Cls),
        ["lasttoken"] => Ok(Pooling::Last),
        [] => Err(corrupted(&path, "it names no pooling")),
        other => Err(unsupported(&path, &format!("pooling \"{}\"", other.join(" + ")))
            .hint("Supported are mean, cls and last.")),
    }
}

/// The poolings a configuration asks for: one flag each, or, in later versions, a name.
fn pooling_modes(config: &Value) -> Vec<&str> {
    if let Some(name) = config["pooling_mode"].as_str() {
        return vec![name];
    }
    let Some(config) = config.as_object() else { return Vec::new() };
    config
        .iter()
        .filter(|(_, value)| **value == Value::Bool(true))
        .filter_map(|(key, _)| key.strip_prefix("pooling_mode_"))
        .collect()
}

/// Length of the vectors; "dim" is DistilBERT's word for it, "d_model" T5's.
fn dimension(files: &Folder, config: &Value) -> Result<u32> {
    ["hidden_size", "dim", "d_model"]
        .iter()
        .find_map(|key| number(config, key))
        .and_then(|value| u32::try_from(value).ok())
        .filter(|value| *value > 0)
        .ok_or_else(|| corrupted(&files.path.join(CONFIG), "it has no \"hidden_size\""))
}

/// The first limit that is written down, but never more than the model has positions for.
fn max_tokens(files: &mut Folder, config: &Value) -> Result<u32> {
    let sentence = files.json(SENTENCE_CONFIG)?.unwrap_or(Value::Null);
    let tokenizer = files.json(TOKENIZER_CONFIG)?.unwrap_or(Value::Null);
    let positions = positions(config);
    let limit = number(&sentence, "max_seq_length")
        .or_else(|| number(&tokenizer, "model_max_length"))
        .filter(|limit| (1..=SANE_MAX_TOKENS).contains(limit));
    let limit = match (limit, positions) {
        (Some(limit), Some(positions)) => limit.min(positions),
        (limit, positions) => limit.or(positions).unwrap_or(DEFAULT_MAX_TOKENS),
    };
    Ok(limit as u32)
}

/// How many positions the model has room for. The RoBERTa family counts them from the
/// padding token's number plus one.
fn positions(config: &Value) -> Option<u64> {
    let positions = number(config, "max_position_embeddings")?;
    let offset = match config["model_type"].as_str() {
        Some("roberta" | "xlm-roberta" | "camembert" | "mpnet" | "longformer") => {
            number(config, "pad_token_id").unwrap_or(1) + 1
        }
        _ => 0,
    };
    positions.checked_sub(offset).filter(|room| (1..=SANE_MAX_TOKENS).contains(room))
}

/// The first prompt that goes by one of `names`, else the default one, else nothing.
fn prompt(config: &Value, names: &[&str]) -> String {
    let default = config["default_prompt_name"].as_str();
    names
        .iter()
        .copied()
        .chain(default)
        .find_map(|name| config["prompts"][name].as_str())
        .unwrap_or_default()
        .to_string()
}

fn is_external_weights(onnx: &str, other: &str) -> bool {
    other.strip_prefix(onnx).is_some_and(|rest| rest.starts_with("_data") || rest == ".data")
}

fn unavailable(what: &str, path: impl std::fmt::Display, error: &io::Error) -> Error {
    let why = match error.kind() {
        io::ErrorKind::NotFound => "no such file or directory".to_string(),
        io::ErrorKind::PermissionDenied => "permission denied".to_string(),
        _ => error.to_string(),
    };
    Error::new(ErrorKind::FileUnavailable, format!("cannot open model {what} \"{path}\": {why}"))
        .hint("The path is read on the server, by the operating system user it runs as.")
}

fn leaves(file: &str, folder: &Path) -> Error {
    Error::invalid(format!("model file \"{file}\" is not inside \"{}\"", folder.display()))
        .hint("Name a file relative to the model's folder.")
}

#[cfg(test)]
#[path = "manifest_tests.rs"]
mod tests;
