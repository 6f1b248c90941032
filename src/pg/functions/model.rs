//! `rag_add_model`, `rag_drop_model`.

use pgrx::prelude::*;

use crate::embed::EmbeddingKind;
use crate::error::{Error, ErrorKind, Result};
use crate::pg::catalog::model::{self, ModelFigures, Remote};
use crate::pg::ragd::{client, provider};
use crate::pg::server::error::{OrReport, unexpected};
use crate::pg::server::sql;
use crate::protocol::apis::{self, Ability};
use crate::protocol::{
    EmbedRequest, Lane, ModelInfo, ModelRef, ModelTask, ProviderConfig, Request, Response,
};
use crate::vector::MAX_DIMENSION;

/// Longest input of a model behind a server where none is named, in tokens.
const MAX_TOKENS: i32 = 512;

/// How the name of a local language model's file ends.
const GGUF_ENDING: &str = ".gguf";

#[pg_extern(sql = false)]
#[allow(clippy::type_complexity, clippy::too_many_arguments)]
fn rag_add_model(
    name: Option<&str>,
    path: Option<&str>,
    file: Option<&str>,
    server: Option<&str>,
    model: Option<&str>,
    dimension: Option<i32>,
    max_tokens: Option<i32>,
    task: Option<&str>,
    if_not_exists: Option<bool>,
) -> TableIterator<
    'static,
    (
        name!(dimension, Option<i32>),
        name!(max_tokens, i32),
        name!(pooling, Option<String>),
        name!(normalized, bool),
        name!(digest, Option<String>),
    ),
> {
    sql::refuse_if_read_only(c"rag_add_model()");
    let request = ModelRequest { path, file, server, model, dimension, max_tokens, task };
    let added = match if_not_exists {
        Some(true) => request.add_if_new(name),
        _ => request.add(name),
    };
    let ModelFigures { dimension, max_tokens, pooling, normalized, digest } = added.or_report();
    TableIterator::once((dimension, max_tokens, pooling, normalized, digest))
}

#[pg_extern(sql = false)]
fn rag_drop_model(name: Option<&str>, if_exists: Option<bool>) -> String {
    sql::refuse_if_read_only(c"rag_drop_model()");
    superuser_only("drop").or_report();
    let name = present("name", name).or_report();
    match if_exists.unwrap_or_default() && !model::exists(name).or_report() {
        true => notice!("model \"{name}\" does not exist, skipping"),
        false => model::delete(name).or_report(),
    }
    name.to_owned()
}

/// Where a model is to be found, as the arguments say.
struct ModelRequest<'a> {
    path: Option<&'a str>,
    file: Option<&'a str>,
    server: Option<&'a str>,
    model: Option<&'a str>,
    dimension: Option<i32>,
    max_tokens: Option<i32>,
    task: Option<&'a str>,
}

impl ModelRequest<'_> {
    /// Registers the model, or says what is registered under its name already.
    fn add_if_new(&self, name: Option<&str>) -> Result<ModelFigures> {
        superuser_only("add")?;
        let name = present("name", name)?;
        let Some(registered) = model::figures(name)? else { return self.add(Some(name)) };
        notice!("model \"{name}\" already exists, skipping");
        Ok(registered)
    }

    fn add(&self, name: Option<&str>) -> Result<ModelFigures> {
        superuser_only("add")?;
        let name = present("name", name)?;
        match (self.path, self.server) {
            (Some(_), Some(_)) => Err(Error::invalid("path and server must not both be given")
                .hint("A model is in a folder or behind a server.")),
            (None, None) => {
                Err(Error::new(ErrorKind::NullNotAllowed, "path and server must not both be NULL")
                    .hint(
                        "Give the folder of a model, or a foreign server of the wrapper rag_llm.",
                    ))
            }
            (Some(path), None) => self.add_folder(name, path),
            (None, Some(server)) => self.add_remote(name, server),
        }
    }

    fn add_folder(&self, name: &str, path: &str) -> Result<ModelFigures> {
        let only_remote = "is for a model behind a server; the files of a folder say it";
        refuse("model", self.model.is_some(), "is for a model behind a server")?;
        refuse("dimension", self.dimension.is_some(), only_remote)?;
        refuse("max_tokens", self.max_tokens.is_some(), only_remote)?;
        refuse("task", self.task.is_some(), only_remote)?;
        let path = present("path", Some(path))?;
        if !path.starts_with('/') {
            return Err(Error::invalid(format!("path of a model must be absolute: \"{path}\""))
                .hint("The files are read on the database server."));
        }
        check_is_new(name)?;
        if path.ends_with(GGUF_ENDING) {
            refuse("file", self.file.is_some(), "is for a model in a folder")?;
            return add_local(name, path);
        }
        let info = describe(name, path, self.file)?;
        model::insert(name, path, &info)?;
        Ok(ModelFigures {
            dimension: model::dimension(&info),
            max_tokens: info.max_tokens as i32,
            pooling: model::pooling(&info).map(str::to_owned),
            normalized: info.normalize,
            digest: Some(info.digest),
        })
    }

    fn add_remote(&self, name: &str, server: &str) -> Result<ModelFigures> {
        refuse("file", self.file.is_some(), "is for a model in a folder")?;
        let server = present("server", Some(server))?;
        if let Some(model) = self.model {
            present("model", Some(model))?;
        }
        let max_tokens = self.max_tokens.unwrap_or(MAX_TOKENS);
        check_range("max_tokens", max_tokens, 8..=1_000_000)?;
        let task = self.task.map_or(Ok(ModelTask::Embed), task)?;
        if let Some(dimension) = self.dimension {
            refuse("dimension", task == ModelTask::Rerank, "is for a model that gives vectors")?;
            check_range("dimension", dimension, 1..=i32::from(MAX_DIMENSION))?;
        }
        check_is_new(name)?;
        let provider = provider::embedding_config(server, self.model)?;
        let remote = Remote { server: server.to_owned(), model: provider.model.clone() };
        let dimension = self.dimension_of(task, provider)?;
        model::insert_remote(name, &remote, dimension, max_tokens)?;
        let normalized = dimension.is_some();
        Ok(ModelFigures { dimension, max_tokens, pooling: None, normalized, digest: None })
    }

    /// As given, or as measured; none for a reranker, which has nothing to be measured.
    fn dimension_of(&self, task: ModelTask, provider: ProviderConfig) -> Result<Option<i32>> {
        if task == ModelTask::Rerank {
            return apis::check(&provider, Ability::Rerank).map(|()| None);
        }
        apis::check(&provider, Ability::Embed)?;
        self.dimension.map_or_else(|| measure(provider), Ok).map(Some)
    }
}

/// Registers a language model that ragd runs itself.
fn add_local(name: &str, path: &str) -> Result<ModelFigures> {
    let info = match client::call(&Request::DescribeLocal { path: path.to_owned() })? {
        Response::LocalModel(info) => info,
        other => return Err(unexpected(&other)),
    };
    model::insert_local(name, path, &info)?;
    Ok(ModelFigures {
        dimension: None,
        max_tokens: info.context_tokens as i32,
        pooling: None,
        normalized: false,
        digest: Some(info.digest),
    })
}

fn check_is_new(name: &str) -> Result<()> {
    if !model::exists(name)? {
        return Ok(());
    }
    Err(Error::new(ErrorKind::DuplicateObject, format!("model \"{name}\" already exists")).hint(
        "Drop it with rag_drop_model, give this one another name, or leave it as it is with if_not_exists => true.",
    ))
}

fn task(name: &str) -> Result<ModelTask> {
    let known = [ModelTask::Embed, ModelTask::Rerank];
    known.into_iter().find(|task| task.name() == name).ok_or_else(|| {
        Error::invalid(format!("unknown task \"{name}\"")).hint("Known tasks: embed, rerank.")
    })
}

/// An argument that says nothing about this kind of model.
fn refuse(argument: &str, is_given: bool, why: &str) -> Result<()> {
    if is_given { Err(Error::invalid(format!("{argument} {why}"))) } else { Ok(()) }
}

fn check_range(what: &str, value: i32, range: std::ops::RangeInclusive<i32>) -> Result<()> {
    if range.contains(&value) {
        return Ok(());
    }
    let (least, most) = range.into_inner();
    Err(Error::invalid(format!("{what} must be between {least} and {most}, not {value}")))
}

fn present<'a>(what: &str, value: Option<&'a str>) -> Result<&'a str> {
    match value {
        None => Err(Error::new(ErrorKind::NullNotAllowed, format!("{what} must not be NULL"))),
        Some(value) if value.trim().is_empty() => {
            Err(Error::invalid(format!("{what} must not be empty")))
        }
        Some(value) => Ok(value),
    }
}

fn describe(name: &str, path: &str, file: Option<&str>) -> Result<ModelInfo> {
    let request = Request::Describe(ModelRef {
        name: name.to_owned(),
        path: path.to_owned(),
        file: file.map(str::to_owned),
        digest: None,
    });
    match client::call(&request)? {
        Response::Model(info) => Ok(info),
        other => Err(unexpected(&other)),
    }
}

/// How long the vectors are that `provider` makes: it is asked for one.
fn measure(provider: ProviderConfig) -> Result<i32> {
    let (server, model) = (provider.name.clone(), provider.model.clone());
    let texts = vec!["How long is this vector?".to_owned()];
    let (dimension, lane, kind) = (None, Lane::Query, EmbeddingKind::Passage);
    let request = EmbedRequest { provider, dimension, lane, kind, texts };
    let dimension = match client::call(&Request::EmbedRemotely(request))? {
        Response::Vectors { dimension, .. } => dimension,
        other => return Err(unexpected(&other)),
    };
    let fits =
        i32::try_from(dimension).ok().filter(|dimension| *dimension <= i32::from(MAX_DIMENSION));
    fits.ok_or_else(|| {
        Error::new(
            ErrorKind::Unsupported,
            format!(
                "model \"{model}\" of server \"{server}\" has {dimension} dimensions, \
                 the limit is {MAX_DIMENSION}"
            ),
        )
        .hint("Give a smaller dimension, if the model can shorten its vectors.")
    })
}

/// Registering a model makes the server read files by path, or call a host; dropping one takes it from all.
fn superuser_only(verb: &str) -> Result<()> {
    // SAFETY: looks the current role up.
    match unsafe { pg_sys::superuser() } {
        true => Ok(()),
        false => Err(Error::new(
            ErrorKind::Forbidden,
            format!("must be superuser to {verb} a model"),
        )
        .hint("Models are for all users of the database, and read with the rights of its server.")),
    }
}
