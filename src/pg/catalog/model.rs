//! `rag.model`.

use pgrx::spi::SpiHeapTupleData;

use crate::error::{Error, ErrorKind, Result};
use crate::pg::server::role::as_superuser;
use crate::pg::server::sql::query;
use crate::pg::server::{guc, install, prepared, sql};
use crate::protocol::{GgufFile, LocalModelInfo, ModelInfo, ModelRef, ModelTask};

/// Folder and file of the model whose tokenizer measures for models behind a server: the
/// built-in default.
const MEASURE: (&str, &str) = ("multilingual-e5-small", "onnx/model_int8.onnx");

/// What a token classifier is for.
const NAMED_BY_GRAPH: &str =
    "A pipeline's option graph names it: {\"entities\": \"ner\", \"ner_model\": ...}.";

/// The task of models that write, as it is stored.
const GENERATE: &str = "generate";

/// A registered model that embeds, reranks or finds names.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct RegisteredModel {
    /// What ragd needs to find it; of a model behind a server, to find the tokenizer that
    /// measures its chunks.
    pub reference: ModelRef,
    /// Where it is, if it is behind a server.
    pub remote: Option<Remote>,
    /// What the model is for.
    pub task: ModelTask,
    /// Length of its vectors; 0 of a model that gives none.
    pub dimension: i32,
    /// Longest input in tokens, special tokens included.
    pub max_tokens: i32,
    /// How one vector is made of those of tokens, where that is known.
    pub pooling: Option<String>,
}

/// A model behind a foreign server.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Remote {
    /// The server's name.
    pub server: String,
    /// What the provider calls the model.
    pub model: String,
}

/// The embedding model called `name`, or the one of `rag.embedding_model` where none is named.
pub fn find(name: Option<&str>) -> Result<RegisteredModel> {
    let name = name.map_or_else(guc::embedding_model, str::to_owned);
    match look_up(&name)? {
        None => Err(unknown(&name)),
        Some(model) if model.task == ModelTask::Embed => Ok(model),
        Some(model) => Err(wrong_task(&model, "gives no vectors").hint(match model.task {
            ModelTask::ClassifyTokens => NAMED_BY_GRAPH,
            ModelTask::Embed | ModelTask::Rerank => {
                "Name it in rag_rerank, or as rerank of rag_retrieve."
            }
        })),
    }
}

/// The model called `name`, which is to rerank: a reranker in a folder or behind a server, or an
/// embedding model in a folder.
pub fn find_reranker(name: &str) -> Result<RegisteredModel> {
    match look_up(name)? {
        None => Err(Error::new(
            ErrorKind::UndefinedObject,
            format!("reranker \"{name}\" does not exist"),
        )
        .hint(format!(
            "Known: 'late_interaction', 'reader', 'llm', and the models {}.",
            known(false)
        ))),
        Some(RegisteredModel { remote: Some(_), task: ModelTask::Embed, .. }) => Err(Error::new(
            ErrorKind::WrongObjectType,
            format!("model \"{name}\" is behind a server and gives vectors, not scores"),
        )
        .hint("Name a reranker, a model in a folder, 'late_interaction', 'reader' or 'llm'.")),
        Some(model) if model.task == ModelTask::ClassifyTokens => {
            Err(wrong_task(&model, "gives no scores").hint(NAMED_BY_GRAPH))
        }
        Some(model) => Ok(model),
    }
}

/// The model called `name`, which is to find names in texts.
pub fn find_token_classifier(name: &str) -> Result<ModelRef> {
    match look_up(name)? {
        Some(model) if model.task == ModelTask::ClassifyTokens => Ok(model.reference),
        Some(model) => Err(wrong_task(&model, "finds no names")
            .hint("Name a token classifier that rag_add_model has registered.")),
        None => Err(Error::new(
            ErrorKind::UndefinedObject,
            format!("token classifier \"{name}\" does not exist"),
        )
        .hint("A superuser registers one: SELECT * FROM rag_add_model('ner', '/path/to/folder').")),
    }
}

fn wrong_task(model: &RegisteredModel, why: &str) -> Error {
    let (name, noun) = (&model.reference.name, model.task.noun());
    Error::new(ErrorKind::WrongObjectType, format!("model \"{name}\" is {noun} and {why}"))
}

fn look_up(name: &str) -> Result<Option<RegisteredModel>> {
    let statement = query!(model.find);
    Ok(prepared::rows(statement, &[name.into()], model)?.into_iter().next())
}

fn model(row: &SpiHeapTupleData<'_>) -> Result<RegisteredModel, pgrx::spi::Error> {
    let remote = match (row.get(8)?, row.get(9)?) {
        (Some(server), Some(model)) => Some(Remote { server, model }),
        _ => None,
    };
    let name = sql::required(row.get(1)?)?;
    let reference = if remote.is_some() { measure(name) } else { in_folder(name, row)? };
    Ok(RegisteredModel {
        reference,
        remote,
        task: task(row.get::<String>(10)?.as_deref()),
        dimension: row.get(4)?.unwrap_or(0),
        max_tokens: sql::required(row.get(5)?)?,
        pooling: row.get(11)?,
    })
}

fn task(name: Option<&str>) -> ModelTask {
    name.and_then(ModelTask::named).unwrap_or(ModelTask::Embed)
}

fn in_folder(name: String, row: &SpiHeapTupleData<'_>) -> Result<ModelRef, pgrx::spi::Error> {
    let path: String = sql::required(row.get(2)?)?;
    let builtin: bool = sql::required(row.get(7)?)?;
    let path = if builtin { format!("{}/{path}", install::model_directory()) } else { path };
    Ok(ModelRef { name, path, file: row.get(3)?, digest: row.get(6)? })
}

fn measure(name: String) -> ModelRef {
    let (folder, file) = MEASURE;
    let path = format!("{}/{folder}", install::model_directory());
    ModelRef { name, path, file: Some(file.to_owned()), digest: None }
}

/// Registers a model whose files say `info`.
pub fn insert(name: &str, path: &str, info: &ModelInfo) -> Result<()> {
    sql::execute(
        query!(model.insert),
        &[
            name.into(),
            info.task.name().into(),
            path.into(),
            info.file.as_str().into(),
            dimension(info).into(),
            (info.max_tokens as i32).into(),
            pooling(info).into(),
            info.normalize.into(),
            info.query_prefix.as_str().into(),
            info.passage_prefix.as_str().into(),
            info.digest.as_str().into(),
        ],
    )
    .map(drop)
}

/// Registers a language model that ragd runs itself, from the file at `path`.
pub fn insert_local(name: &str, path: &str, info: &LocalModelInfo) -> Result<()> {
    let (tokens, digest) = (info.context_tokens as i32, info.digest.as_str());
    sql::execute(
        query!(model.insert_local),
        &[name.into(), path.into(), tokens.into(), digest.into()],
    )
    .map(drop)
}

/// The file of the local language model called `name`. Fails where no model, or one that does not write, is called so.
pub fn find_local(name: &str) -> Result<GgufFile> {
    let found = prepared::rows(query!(model.local), &[name.into()], |row| {
        let task: String = sql::required(row.get(1)?)?;
        let file = row.get(2)?.zip(row.get(3)?).filter(|_| task == GENERATE);
        let tokens: i32 = sql::required(row.get(4)?)?;
        let trained_tokens = tokens.unsigned_abs();
        Ok(file.map(|(path, digest)| GgufFile { path, digest, trained_tokens }))
    })?;
    match found.into_iter().next() {
        Some(Some(model)) => Ok(model),
        Some(None) => Err(naming_local(Error::new(
            ErrorKind::WrongObjectType,
            format!("model \"{name}\" is no language model"),
        ))),
        None => Err(naming_local(Error::new(
            ErrorKind::UndefinedObject,
            format!("local language model \"{name}\" does not exist"),
        ))),
    }
}

/// The error with a hint that names the local language models that there are.
fn naming_local(error: Error) -> Error {
    match known(true) {
        none if none.is_empty() => error.hint(
            "A superuser registers one: SELECT * FROM rag_add_model('writer', '/path/to/model.gguf').",
        ),
        known => error.hint(format!("Known: {known}. rag_add_model registers another.")),
    }
}

/// Length of the vectors that the model gives, if it gives any.
pub fn dimension(info: &ModelInfo) -> Option<i32> {
    (info.task == ModelTask::Embed).then_some(info.dimension as i32)
}

/// How it makes them.
pub fn pooling(info: &ModelInfo) -> Option<&str> {
    (info.task == ModelTask::Embed).then_some(info.pooling.as_str())
}

/// Registers a model behind a server, whose vectors have `dimension` numbers and whose chunks
/// have `max_tokens` tokens at most. Without a dimension it is a reranker.
pub fn insert_remote(
    name: &str,
    remote: &Remote,
    dimension: Option<i32>,
    max_tokens: i32,
) -> Result<()> {
    let task = if dimension.is_some() { ModelTask::Embed } else { ModelTask::Rerank };
    sql::execute(
        query!(model.insert_remote),
        &[
            name.into(),
            remote.server.as_str().into(),
            remote.model.as_str().into(),
            dimension.into(),
            max_tokens.into(),
            task.name().into(),
            dimension.is_some().into(),
        ],
    )
    .map(drop)
}

/// What `rag_add_model` says of a model.
pub struct ModelFigures {
    /// Length of its vectors; none of a reranker.
    pub dimension: Option<i32>,
    /// Longest input in tokens, special tokens included.
    pub max_tokens: i32,
    /// How one vector is made of those of tokens, where that is known.
    pub pooling: Option<String>,
    /// Whether its vectors have length 1.
    pub normalized: bool,
    /// Of its files; none where they are elsewhere.
    pub digest: Option<String>,
}

/// What is registered of the model called `name`.
pub fn figures(name: &str) -> Result<Option<ModelFigures>> {
    let found = sql::rows(query!(model.figures), &[name.into()], |row| {
        Ok(ModelFigures {
            dimension: row.get(1)?,
            max_tokens: sql::required(row.get(2)?)?,
            pooling: row.get(3)?,
            normalized: sql::required(row.get(4)?)?,
            digest: row.get(5)?,
        })
    })?;
    Ok(found.into_iter().next())
}

/// Whether a model is called `name`.
pub fn exists(name: &str) -> Result<bool> {
    let found = sql::rows(query!(model.exists), &[name.into()], |_| Ok(()))?;
    Ok(!found.is_empty())
}

/// As [`find`], for something that is made with the model now: nobody drops it before the transaction ends.
pub fn find_and_keep(name: Option<&str>) -> Result<RegisteredModel> {
    let found = find(name)?.reference.name;
    kept(&found, || find(Some(&found)))
}

/// As [`find_token_classifier`], for something that is made to use it from now on: nobody drops it before the transaction
/// ends.
pub fn keep_token_classifier(name: &str) -> Result<()> {
    kept(name, || find_token_classifier(name)).map(drop)
}

/// What `find` finds of the model called `name` while nobody can drop it.
fn kept<T>(name: &str, find: impl FnOnce() -> Result<T>) -> Result<T> {
    // Roles may read the table of models, and lock nothing in it.
    as_superuser(|| sql::execute(query!(model.keep), &[name.into()]))?;
    sql::with_latest_snapshot(find)
}

/// Forgets the model; an error where a pipeline uses it.
pub fn delete(name: &str) -> Result<()> {
    // Who is about to use it comes first, and is seen then.
    sql::execute(query!(model.lock), &[name.into()])?;
    let users = || sql::rows(query!(model.users), &[name.into()], |row| row.get::<String>(1));
    let users = sql::with_latest_snapshot(users)?;
    if let Some(Some(pipelines)) = users.into_iter().next() {
        return Err(Error::new(
            ErrorKind::InvalidParameter,
            format!("model \"{name}\" is used by pipelines: {pipelines}"),
        )
        .hint("Drop those pipelines first, or name another model in their option graph if that uses it."));
    }
    match sql::execute(query!(model.delete), &[name.into()])? {
        0 => Err(unknown(name)),
        _ => Ok(()),
    }
}

fn unknown(name: &str) -> Error {
    Error::new(ErrorKind::UndefinedObject, format!("embedding model \"{name}\" does not exist"))
        .hint(format!("Known models: {}. rag_add_model registers another.", known(false)))
}

/// The names of the registered models: of those that write, or of the others.
fn known(write: bool) -> String {
    let known = sql::rows(query!(model.names), &[write.into()], |row| row.get::<String>(1));
    known.ok().and_then(|mut rows| rows.pop().flatten()).unwrap_or_default()
}
