//! `rag.pipeline`.
//!
//! Users only read the table. What is written here is written as the superuser, so the caller must
//! have checked that the source belongs to the session's role: [`owned`] and `Source::describe` do.

use pgrx::datum::DatumWithOid;
use pgrx::prelude::*;
use pgrx::spi::SpiHeapTupleData;

use crate::chunk::ChunkingOptions;
use crate::error::{Error, ErrorKind, Result};
use crate::pg::server::json::Jsonb;
use crate::pg::server::role::{as_superuser, barred_schema, by_policies, current_user, may_select};
use crate::pg::server::sql::query;
use crate::pg::server::{prepared, sql};

/// A relation of a pipeline.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Relation {
    /// The relation's OID.
    pub oid: pg_sys::Oid,
    /// Its name in SQL: quoted, and qualified where the search path asks for it.
    pub sql: String,
}

/// What embeds changed rows: workers, the statement that changes them, or `rag_run`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum RefreshMode {
    /// Workers, soon after the change was committed.
    Async,
    /// The statement that changes it.
    Sync,
    /// The call of `rag_run`.
    Manual,
}

impl RefreshMode {
    /// All of them, the default first.
    pub const ALL: [RefreshMode; 3] = [RefreshMode::Async, RefreshMode::Sync, RefreshMode::Manual];

    /// The name that users write.
    pub fn name(self) -> &'static str {
        match self {
            RefreshMode::Async => "async",
            RefreshMode::Sync => "sync",
            RefreshMode::Manual => "manual",
        }
    }

    /// The one called `name`.
    pub fn named(name: &str) -> Result<RefreshMode> {
        RefreshMode::ALL.into_iter().find(|it| it.name() == name).ok_or_else(|| {
            let known = RefreshMode::ALL.map(RefreshMode::name).join(", ");
            Error::invalid(format!("unknown refresh \"{name}\""))
                .hint(format!("Known values: {known}."))
        })
    }

    /// Whether workers see to what is in the queue. With synchronous refresh that is what a statement could
    /// not do itself.
    pub fn has_workers(self) -> bool {
        self != RefreshMode::Manual
    }
}

/// How far the first embedding of a source's rows is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum PipelineStage {
    /// Not all rows have been seen; there is no index of the vectors yet.
    Filling,
    /// All rows have been seen.
    Live,
}

impl PipelineStage {
    /// The name that is stored.
    pub fn name(self) -> &'static str {
        match self {
            PipelineStage::Filling => "filling",
            PipelineStage::Live => "live",
        }
    }
}

/// A row of `rag.pipeline`.
#[derive(Clone, Debug)]
pub struct Pipeline {
    /// Primary key.
    pub id: i32,
    /// What users call it; of one that is to replace another, the other's name and its generation.
    pub name: String,
    /// The table whose rows are embedded.
    pub source: Relation,
    /// Key, content and metadata of the source's rows.
    pub content_view: Relation,
    /// The table of chunks.
    pub chunk_table: Relation,
    /// The chunks, as the caller may see them.
    pub view: Relation,
    /// The first so many columns of the content view are the key.
    pub key_columns: usize,
    /// Name of the embedding model.
    pub model: String,
    /// How documents are cut.
    pub chunking: ChunkingOptions,
    /// Whether title and headings are embedded with each chunk.
    pub contextual: bool,
    /// Whether a language model says in which connection a chunk stands, and that, too.
    pub situated: bool,
    /// Qualified name of the text search configuration.
    pub config: String,
    /// How often its chunks have been made anew, from 1.
    pub generation: i32,
    /// What embeds changed rows: workers, the statement that changes them, or `rag_run`.
    pub refresh: RefreshMode,
    /// Whether workers leave the pipeline alone.
    pub is_paused: bool,
    /// How far the first embedding is.
    pub stage: PipelineStage,
    /// The pipeline whose place it takes once it is filled.
    pub replaces: Option<i32>,
    /// Whether its chunks are those of pipelines in other databases; its view is its source then, too.
    pub has_shards: bool,
}

/// The pipeline called `name`, or the only one there is.
pub fn resolve(name: Option<&str>) -> Result<Pipeline> {
    match name {
        Some(name) => find(Some(name), None)?.ok_or_else(|| unknown(name)),
        None => only_one(),
    }
}

/// An error where the caller may read the source of a pipeline, but not its chunks: what was granted on
/// the source later was not granted on them, or their schema is another.
pub fn check_readable(pipeline: &Pipeline) -> Result<()> {
    let Pipeline { source, view, chunk_table, .. } = pipeline;
    let role = pgrx::spi::quote_identifier(current_user());
    if let Some(schema) = [view, chunk_table].iter().find_map(|it| barred_schema(it.oid)) {
        let message = format!(
            "permission denied for schema {schema}, which has the chunks of pipeline \"{}\"",
            pipeline.name
        );
        return Err(Error::new(ErrorKind::Forbidden, message)
            .hint(format!("GRANT USAGE ON SCHEMA {schema} TO {role}.")));
    }
    if [view, chunk_table].iter().all(|relation| may_select(relation.oid)) {
        return Ok(());
    }
    let message = format!("permission denied for the chunks of pipeline \"{}\"", pipeline.name);
    let relations = match pipeline.has_shards {
        true => view.sql.clone(),
        false => [source, view, chunk_table].map(|relation| relation.sql.as_str()).join(", "),
    };
    Err(Error::new(ErrorKind::Forbidden, message)
        .hint(format!("GRANT SELECT ON {relations} TO {role}.")))
}

/// The pipeline called `name`, or the only one there is; an error where its source is not the
/// caller's.
pub fn owned(name: Option<&str>) -> Result<Pipeline> {
    let pipeline = resolve(name)?;
    match is_owned(pipeline.id)? {
        true => Ok(pipeline),
        false => Err(Error::new(
            ErrorKind::Forbidden,
            format!("must be owner of the table of pipeline \"{}\"", pipeline.name),
        )),
    }
}

/// The pipeline as [`owned`] gives it, held: until the end of the transaction it can't be dropped,
/// and no other can take its place.
pub fn owned_and_held(name: Option<&str>) -> Result<Pipeline> {
    loop {
        let pipeline = sql::with_latest_snapshot(|| owned(name))?;
        // While it was waited for, another may have taken its place and its name.
        if let Some(pipeline) = hold(pipeline.id)? {
            return Ok(pipeline);
        }
    }
}

/// The pipeline with this ID.
pub fn by_id(id: i32) -> Result<Option<Pipeline>> {
    find(None, Some(id))
}

/// Whether the caller owns the pipeline's source.
fn is_owned(id: i32) -> Result<bool> {
    let statement = query!(pipeline.is_owned);
    let found = sql::rows(statement, &[id.into()], |row| sql::required(row.get::<bool>(1)?))?;
    Ok(found.contains(&true))
}

/// The pipeline that is to take the place of this one.
pub fn successor(id: i32) -> Result<Option<Pipeline>> {
    let statement = query!(pipeline.successor);
    let found = by_policies(|| {
        sql::rows(statement, &[id.into()], |row| sql::required(row.get::<i32>(1)?))
    })?;
    found.first().map_or(Ok(None), |id| by_id(*id))
}

/// Whether the caller may see a pipeline called `name`.
pub fn exists(name: &str) -> Result<bool> {
    Ok(names()?.iter().any(|known| known == name))
}

/// Names of the pipelines the caller may see.
pub fn names() -> Result<Vec<String>> {
    by_policies(|| {
        prepared::rows(query!(pipeline.names), &[], |row| sql::required(row.get::<String>(1)?))
    })
}

/// What a new row of `rag.pipeline` says; relations as SQL names.
pub struct NewPipeline<'a> {
    /// What users will call it; `None` if it replaces another.
    pub name: Option<&'a str>,
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
    pub chunking: &'a ChunkingOptions,
    /// Whether title and headings are embedded with each chunk.
    pub contextual: bool,
    /// Qualified name of the text search configuration, as [`config_name`] gives it.
    pub config: &'a str,
    /// What embeds changed rows: workers, the statement that changes them, or `rag_run`.
    pub refresh: RefreshMode,
    /// How far the first embedding is.
    pub stage: PipelineStage,
    /// How often its chunks have been made anew, from 1.
    pub generation: i32,
    /// The ID of the pipeline whose place it takes.
    pub replaces: Option<i32>,
}

/// Adds a row to `rag.pipeline`; gives its ID.
pub fn insert(new: &NewPipeline<'_>) -> Result<i32> {
    let statement = query!(pipeline.insert);
    let arguments = [
        new.name.into(),
        new.source.into(),
        new.content_view.into(),
        new.chunk_table.into(),
        new.view.into(),
        new.key_columns.into(),
        new.model.into(),
        Jsonb(new.chunking.completed().to_json()).into(),
        new.contextual.into(),
        new.config.into(),
        new.refresh.name().into(),
        new.stage.name().into(),
        new.generation.into(),
        new.replaces.into(),
    ];
    let inserted = change(statement, &arguments, |row| sql::required(row.get::<i32>(1)?))?;
    inserted.first().copied().ok_or_else(|| Error::new(ErrorKind::Internal, "no row was inserted"))
}

/// The qualified name of the text search configuration that the caller means.
pub fn config_name(config: &str) -> Result<String> {
    let known =
        sql::rows(query!(pipeline.config_names), &[], |row| sql::required(row.get::<String>(1)?))?;
    // A name with a schema or in quotes PostgreSQL reads itself.
    let is_bare = config.chars().all(|c| c.is_ascii_alphanumeric() || c == '_');
    if is_bare && !known.contains(&config.to_ascii_lowercase()) {
        return Err(no_config(config, &known));
    }
    let statement = query!(pipeline.config_name);
    let found = sql::rows(statement, &[config.into()], |row| sql::required(row.get(1)?))?;
    found.into_iter().next().ok_or_else(|| no_config(config, &known))
}

fn no_config(config: &str, known: &[String]) -> Error {
    let message = format!("text search configuration \"{config}\" does not exist");
    Error::new(ErrorKind::UndefinedObject, message)
        .hint(format!("Known configurations: {}.", known.join(", ")))
}

/// The pipeline, which stays as it is until the end of the transaction. To be locked before
/// anything of its queue, by callers that lock none of its relations.
pub fn hold(id: i32) -> Result<Option<Pipeline>> {
    locked(query!(pipeline.hold), id)
}

/// The pipeline, locked against every other session until the end of the transaction: none can
/// hold, change or drop it. `None` if there is no pipeline `id`.
pub fn lock(id: i32) -> Result<Option<Pipeline>> {
    locked(query!(pipeline.lock), id)
}

fn locked(statement: &str, id: i32) -> Result<Option<Pipeline>> {
    match change(statement, &[id.into()], |_| Ok(()))?.is_empty() {
        true => Ok(None),
        false => by_id(id),
    }
}

/// Has the pipeline stay as it is until the end of the transaction; whether that was possible at once.
pub fn hold_now(id: i32) -> Result<bool> {
    let statement = query!(pipeline.hold_now);
    Ok(change(statement, &[id.into()], |_| Ok(()))?.len() == 1)
}

/// Locks a pipeline against others that would build its index; whether that was possible at once.
pub fn take(id: i32) -> Result<bool> {
    let statement = query!(pipeline.take);
    Ok(change(statement, &[id.into()], |_| Ok(()))?.len() == 1)
}

/// Locks two pipelines against all other sessions; whether that was possible at once.
pub fn take_both(id: i32, other: i32) -> Result<bool> {
    let statement = query!(pipeline.take_both);
    Ok(change(statement, &[id.into(), other.into()], |_| Ok(()))?.len() == 2)
}

/// IDs of pipelines whose rows have all been seen to for the first time; only that of `only` if given.
pub fn filled(only: Option<i32>) -> Result<Vec<i32>> {
    let statement = query!(pipeline.filled);
    sql::rows(statement, &[only.into()], |row| sql::required(row.get(1)?))
}

/// All rows that were queued until `time` belong to the first embedding.
pub fn set_fill_from(id: i32, time: TimestampWithTimeZone) -> Result<()> {
    let statement = query!(pipeline.fill_from);
    execute(statement, &[id.into(), time.into()])
}

/// All rows of the source have been seen.
pub fn set_live(id: i32) -> Result<()> {
    execute(query!(pipeline.live), &[id.into()])
}

/// Removes a pipeline, but not its successor.
pub fn forget_replaced(successor: i32, old: i32) -> Result<()> {
    let statement = query!(pipeline.unnamed);
    execute(statement, &[successor.into()])?;
    delete(old)
}

/// Gives a successor the name of the pipeline that it has replaced, its refresh, and `view` as its view.
pub fn take_name(successor: i32, old: &Pipeline, view: pg_sys::Oid) -> Result<()> {
    let statement = query!(pipeline.take_name);
    let arguments =
        [successor.into(), old.name.as_str().into(), old.refresh.name().into(), view.into()];
    execute(statement, &arguments)
}

/// Changes what can be changed in place.
pub fn alter(id: i32, name: &str, refresh: RefreshMode) -> Result<()> {
    let statement = query!(pipeline.alter);
    execute(statement, &[id.into(), name.into(), refresh.name().into()])
}

/// Where key, content and metadata of the source's rows are, by a name in SQL; `None` while nowhere.
pub fn set_content_view(id: i32, view: Option<&str>) -> Result<()> {
    let statement = query!(pipeline.content_view);
    execute(statement, &[id.into(), view.into()])
}

/// Where the chunks are, as the caller may see them, by a name in SQL.
pub fn set_view(id: i32, view: &str) -> Result<()> {
    execute(query!(pipeline.view), &[id.into(), view.into()])
}

/// Has the vectors of a pipeline indexed that have no index any more; whether that is so.
pub fn set_filling_where_unindexed(id: i32) -> Result<bool> {
    let statement = query!(pipeline.unindexed);
    Ok(!change(statement, &[id.into()], |_| Ok(()))?.is_empty())
}

/// Has workers leave it alone, or not any more.
pub fn set_paused(id: i32, is_paused: bool) -> Result<()> {
    let statement = query!(pipeline.pause);
    execute(statement, &[id.into(), is_paused.into()])
}

/// Changes or locks rows of `rag.pipeline`.
fn change<T>(
    statement: &str,
    arguments: &[DatumWithOid<'_>],
    map: impl FnMut(&SpiHeapTupleData<'_>) -> Result<T, pgrx::spi::Error>,
) -> Result<Vec<T>> {
    as_superuser(|| sql::changed_rows(statement, arguments, map))
}

fn execute(statement: &str, arguments: &[DatumWithOid<'_>]) -> Result<()> {
    change(statement, arguments, |_| Ok(())).map(drop)
}

/// Removes a pipeline's row from the catalog.
pub fn delete(id: i32) -> Result<()> {
    execute(query!(pipeline.delete), &[id.into()])
}

/// An error for who sees no pipeline, though there may be some over tables that the role may not read.
fn without_any(error: Error) -> Error {
    error.hint("Create one with SELECT rag_create_pipeline('table', 'text column'), or have SELECT granted on the table of another.")
}

fn only_one() -> Result<Pipeline> {
    let names = names()?;
    match names.as_slice() {
        [] => Err(without_any(Error::new(
            ErrorKind::UndefinedObject,
            "there is no pipeline that you may read",
        ))),
        [name] => resolve(Some(name)),
        _ => Err(Error::new(
            ErrorKind::Ambiguous,
            format!("there are {} pipelines and none is named", names.len()),
        )
        .hint(format!("Add pipeline => with one of: {}.", names.join(", ")))),
    }
}

fn unknown(name: &str) -> Error {
    let error =
        Error::new(ErrorKind::UndefinedObject, format!("pipeline \"{name}\" does not exist"));
    match names() {
        Ok(names) if !names.is_empty() => {
            error.hint(format!("Known pipelines: {}.", names.join(", ")))
        }
        _ => without_any(error),
    }
}

fn find(name: Option<&str>, id: Option<i32>) -> Result<Option<Pipeline>> {
    let read = |row: &SpiHeapTupleData<'_>| {
        let text = |column: usize| sql::required(row.get::<String>(column)?);
        let (refresh, stage) = (text(16)?, text(18)?);
        let chunking: Jsonb = sql::required(row.get(13)?)?;
        let relation = |oid: usize| -> Result<Relation, pgrx::spi::Error> {
            Ok(Relation {
                oid: sql::required(row.get(oid)?)?,
                sql: sql::required(row.get(oid + 4)?)?,
            })
        };
        Ok((
            (chunking, refresh, stage),
            Pipeline {
                id: sql::required(row.get(1)?)?,
                name: sql::required(row.get(20)?)?,
                source: relation(3)?,
                content_view: relation(4)?,
                chunk_table: relation(5)?,
                view: relation(6)?,
                key_columns: sql::required(row.get::<i32>(11)?)? as usize,
                model: sql::required(row.get(12)?)?,
                chunking: ChunkingOptions::default(),
                contextual: sql::required(row.get(21)?)?,
                situated: sql::required(row.get(22)?)?,
                config: sql::required(row.get(14)?)?,
                generation: sql::required(row.get(15)?)?,
                refresh: RefreshMode::Async,
                is_paused: sql::required(row.get(17)?)?,
                stage: PipelineStage::Live,
                replaces: row.get(19)?,
                has_shards: sql::required(row.get(23)?)?,
            },
        ))
    };
    let arguments = [name.into(), id.into()];
    let found = by_policies(|| prepared::rows(query!(pipeline.find), &arguments, read))?;
    let Some((texts, mut pipeline)) = found.into_iter().next() else { return Ok(None) };
    let (chunking, refresh, stage) = texts;
    pipeline.chunking = stored_chunking(chunking)?;
    pipeline.refresh = RefreshMode::named(&refresh)?;
    pipeline.stage = if stage == PipelineStage::Filling.name() {
        PipelineStage::Filling
    } else {
        PipelineStage::Live
    };
    Ok(Some(pipeline))
}

fn stored_chunking(Jsonb(chunking): Jsonb) -> Result<ChunkingOptions> {
    let keys = chunking.as_object().cloned().unwrap_or_default();
    ChunkingOptions::for_pipeline(keys).map_err(|error| {
        Error::new(ErrorKind::DataCorrupted, format!("column chunking of rag.pipeline: {error}"))
    })
}
