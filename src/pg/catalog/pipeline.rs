//! `rag.pipeline`.

use pgrx::prelude::*;

use crate::chunk::{ChunkOptions, Strategy};
use crate::error::{Error, ErrorKind, Result};
use crate::pg::sql;

/// A relation of a pipeline.
#[derive(Clone, Debug)]
pub struct Relation {
    /// Its OID.
    pub oid: pg_sys::Oid,
    /// Its name in SQL: quoted, and qualified where the search path asks for it.
    pub sql: String,
}

/// A row of `rag.pipeline`.
#[derive(Clone, Debug)]
pub struct Pipeline {
    /// Primary key.
    pub id: i32,
    /// What users call it.
    pub name: String,
    /// The table whose rows are embedded.
    pub source: Relation,
    /// Key, content and metadata of the source's rows.
    pub content_view: Relation,
    /// The chunks.
    pub chunk_table: Relation,
    /// The chunks, as the caller may see them.
    pub view: Relation,
    /// The first so many columns of the content view are the key.
    pub key_columns: usize,
    /// Name of the embedding model.
    pub model: String,
    /// How documents are cut.
    pub chunking: ChunkOptions,
    /// Text search configuration.
    pub config: pg_sys::Oid,
    /// The generation of chunks that is searched.
    pub generation: i32,
}

/// The pipeline called `name`, or the only one there is.
pub fn resolve(name: Option<&str>) -> Result<Pipeline> {
    match name {
        Some(name) => find(Some(name), None)?.ok_or_else(|| unknown(name)),
        None => only_one(),
    }
}

/// The pipeline with this ID.
pub fn by_id(id: i32) -> Result<Option<Pipeline>> {
    find(None, Some(id))
}

/// Names of the pipelines the caller may see.
pub fn names() -> Result<Vec<String>> {
    sql::rows(include_str!("../../../sql/query/pipeline_names.sql"), &[], |row| {
        sql::required(row.get::<String>(1)?)
    })
}

/// What a new row of `rag.pipeline` says; relations as SQL names.
pub struct NewPipeline<'a> {
    /// What users will call it.
    pub name: &'a str,
    /// The table whose rows are embedded.
    pub source: pg_sys::Oid,
    /// SQL name of the content view.
    pub content_view: &'a str,
    /// SQL name of the chunk table.
    pub chunk_table: &'a str,
    /// SQL name of the chunks' view.
    pub view: &'a str,
    /// Number of key columns.
    pub key_columns: i32,
    /// Name of the embedding model.
    pub model: &'a str,
    /// How documents are cut.
    pub chunking: &'a ChunkOptions,
    /// Name of the text search configuration.
    pub config: &'a str,
    /// "sync".
    pub mode: &'a str,
}

/// Adds a row; its ID.
pub fn insert(new: &NewPipeline<'_>) -> Result<i32> {
    let statement = include_str!("../../../sql/query/pipeline_insert.sql");
    let arguments = [
        new.name.into(),
        new.source.into(),
        new.content_view.into(),
        new.chunk_table.into(),
        new.view.into(),
        new.key_columns.into(),
        new.model.into(),
        new.chunking.strategy.as_str().into(),
        (new.chunking.max_tokens as i32).into(),
        (new.chunking.overlap as i32).into(),
        new.config.into(),
        new.mode.into(),
    ];
    sql::connect(|client| {
        let table = client.update(statement, None, &arguments)?.first();
        sql::required(table.get::<i32>(1)?)
    })
    .map_err(crate::pg::error::spi_failed)
}

/// Removes a row.
pub fn delete(id: i32) -> Result<()> {
    sql::execute(include_str!("../../../sql/query/pipeline_delete.sql"), &[id.into()]).map(drop)
}

fn only_one() -> Result<Pipeline> {
    let names = names()?;
    match names.as_slice() {
        [] => Err(Error::new(ErrorKind::UndefinedObject, "there is no pipeline")
            .hint("Create one with SELECT rag_create_pipeline('table', 'text column').")),
        [name] => resolve(Some(name)),
        _ => Err(Error::new(
            ErrorKind::Ambiguous,
            format!("there are {} pipelines and none is named", names.len()),
        )
        .hint(format!("Add pipeline => with one of: {}.", names.join(", ")))),
    }
}

fn unknown(name: &str) -> Error {
    let hint = match names() {
        Ok(names) if !names.is_empty() => format!("Known pipelines: {}.", names.join(", ")),
        _ => "Create one with SELECT rag_create_pipeline('table', 'text column').".to_owned(),
    };
    Error::new(ErrorKind::UndefinedObject, format!("pipeline \"{name}\" does not exist")).hint(hint)
}

fn find(name: Option<&str>, id: Option<i32>) -> Result<Option<Pipeline>> {
    let statement = include_str!("../../../sql/query/pipeline_find.sql");
    let found = sql::rows(statement, &[name.into(), id.into()], |row| {
        let strategy: String = sql::required(row.get(13)?)?;
        let relation = |oid: usize| -> Result<Relation, pgrx::spi::Error> {
            Ok(Relation {
                oid: sql::required(row.get(oid)?)?,
                sql: sql::required(row.get(oid + 4)?)?,
            })
        };
        let max_tokens: i32 = sql::required(row.get(14)?)?;
        let overlap: i32 = sql::required(row.get(15)?)?;
        Ok((
            strategy,
            Pipeline {
                id: sql::required(row.get(1)?)?,
                name: sql::required(row.get(2)?)?,
                source: relation(3)?,
                content_view: relation(4)?,
                chunk_table: relation(5)?,
                view: relation(6)?,
                key_columns: sql::required(row.get::<i32>(11)?)? as usize,
                model: sql::required(row.get(12)?)?,
                chunking: ChunkOptions {
                    strategy: Strategy::Recursive,
                    max_tokens: max_tokens as u32,
                    overlap: overlap as u32,
                },
                config: sql::required(row.get(16)?)?,
                generation: sql::required(row.get(17)?)?,
            },
        ))
    })?;
    let Some((strategy, mut pipeline)) = found.into_iter().next() else { return Ok(None) };
    pipeline.chunking.strategy = strategy.parse()?;
    Ok(Some(pipeline))
}
