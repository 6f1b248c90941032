//! `rag.model`.

use crate::daemon::protocol::{ModelInfo, ModelRef};
use crate::error::{Error, ErrorKind, Result};
use crate::pg::{guc, install, sql};

/// A registered model.
#[derive(Clone, Debug)]
pub struct Model {
    /// What ragd needs to find it.
    pub reference: ModelRef,
    /// Length of its vectors.
    pub dimension: i32,
    /// Longest input in tokens, special tokens included.
    pub max_tokens: i32,
}

/// The model called `name`, or the one of `rag.embedding_model` where none is named.
pub fn find(name: Option<&str>) -> Result<Model> {
    let name = name.map_or_else(guc::embedding_model, str::to_owned);
    let found = sql::rows(
        include_str!("../../../sql/query/model_find.sql"),
        &[name.as_str().into()],
        |row| {
            let path: String = sql::required(row.get(2)?)?;
            let builtin: bool = sql::required(row.get(7)?)?;
            Ok(Model {
                reference: ModelRef {
                    name: sql::required(row.get(1)?)?,
                    path: if builtin {
                        format!("{}/{path}", install::model_directory())
                    } else {
                        path
                    },
                    file: row.get(3)?,
                    digest: row.get(6)?,
                },
                dimension: sql::required(row.get(4)?)?,
                max_tokens: sql::required(row.get(5)?)?,
            })
        },
    )?;
    found.into_iter().next().map_or_else(|| Err(unknown(&name)), Ok)
}

/// Registers a model whose files say `info`.
pub fn insert(name: &str, path: &str, info: &ModelInfo) -> Result<()> {
    sql::execute(
        include_str!("../../../sql/query/model_insert.sql"),
        &[
            name.into(),
            path.into(),
            info.file.as_str().into(),
            (info.dimension as i32).into(),
            (info.max_tokens as i32).into(),
            info.pooling.as_str().into(),
            info.normalize.into(),
            info.query_prefix.as_str().into(),
            info.passage_prefix.as_str().into(),
            info.digest.as_str().into(),
        ],
    )
    .map(drop)
}

/// Whether a model is called `name`.
pub fn exists(name: &str) -> Result<bool> {
    let found =
        sql::rows(include_str!("../../../sql/query/model_find.sql"), &[name.into()], |_| Ok(()))?;
    Ok(!found.is_empty())
}

/// Forgets the model; an error where a pipeline uses it.
pub fn delete(name: &str) -> Result<()> {
    let users =
        sql::rows(include_str!("../../../sql/query/model_users.sql"), &[name.into()], |row| {
            row.get::<String>(1)
        })?;
    if let Some(Some(pipelines)) = users.into_iter().next() {
        return Err(Error::new(
            ErrorKind::InvalidParameter,
            format!("model \"{name}\" is used by pipelines: {pipelines}"),
        )
        .hint("Drop those pipelines first."));
    }
    match sql::execute(include_str!("../../../sql/query/model_delete.sql"), &[name.into()])? {
        0 => Err(unknown(name)),
        _ => Ok(()),
    }
}

fn unknown(name: &str) -> Error {
    let known = sql::rows(include_str!("../../../sql/query/model_names.sql"), &[], |row| {
        row.get::<String>(1)
    });
    let names = known.ok().and_then(|mut rows| rows.pop().flatten()).unwrap_or_default();
    Error::new(ErrorKind::UndefinedObject, format!("embedding model \"{name}\" does not exist"))
        .hint(format!("Known models: {names}. rag_add_model registers another."))
}
