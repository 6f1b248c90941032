//! `rag_add_model`, `rag_drop_model`.

use pgrx::prelude::*;

use crate::daemon::protocol::{ModelInfo, ModelRef, Request, Response};
use crate::error::{Error, ErrorKind, Result};
use crate::pg::catalog::model;
use crate::pg::error::{OrReport, unexpected};
use crate::pg::{client, sql};

#[pg_extern(sql = false)]
#[allow(clippy::type_complexity)]
fn rag_add_model(
    name: Option<&str>,
    path: Option<&str>,
    file: Option<&str>,
) -> TableIterator<
    'static,
    (
        name!(dimension, i32),
        name!(max_tokens, i32),
        name!(pooling, String),
        name!(normalized, bool),
        name!(digest, String),
    ),
> {
    sql::refuse_if_read_only(c"rag_add_model()");
    let info = add(name, path, file).or_report();
    TableIterator::once((
        info.dimension as i32,
        info.max_tokens as i32,
        info.pooling,
        info.normalize,
        info.digest,
    ))
}

#[pg_extern(sql = false)]
fn rag_drop_model(name: &str) {
    sql::refuse_if_read_only(c"rag_drop_model()");
    superuser_only("drop").and_then(|()| model::delete(name)).or_report();
}

fn add(name: Option<&str>, path: Option<&str>, file: Option<&str>) -> Result<ModelInfo> {
    superuser_only("add")?;
    let name = present("name", name)?;
    let path = present("path", path)?;
    if !path.starts_with('/') {
        return Err(Error::invalid(format!("path of a model must be absolute: \"{path}\"")));
    }
    if model::exists(name)? {
        return Err(Error::new(
            ErrorKind::DuplicateObject,
            format!("embedding model \"{name}\" already exists"),
        ));
    }
    let info = describe(name, path, file)?;
    model::insert(name, path, &info)?;
    Ok(info)
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

/// Registering a model makes the server read files by path.
fn superuser_only(verb: &str) -> Result<()> {
    // SAFETY: looks the current role up.
    match unsafe { pg_sys::superuser() } {
        true => Ok(()),
        false => {
            Err(Error::new(ErrorKind::Forbidden, format!("must be superuser to {verb} a model")))
        }
    }
}
