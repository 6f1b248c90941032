//! Columns of a source are dropped, or get another type: what of a pipeline is in the way?
//!
//! The content view and the trigger for updates read the columns, so PostgreSQL would refuse the
//! statement, or with CASCADE drop both, and with them the pipeline. So both are taken away before
//! an ALTER TABLE begins and are made anew when it ends, in the same transaction. Metadata goes
//! with the columns that it is made of. Key and content stay: what would the chunks be of?

mod chunks;
mod vector_indexes;

use std::cell::RefCell;

use pgrx::prelude::*;
use pgrx::spi::quote_identifier;

use self::chunks::Retyped;
use super::comment::{self, ShownColumn};
use super::content::{self, Expression};
use super::metadata::{self, MetadataSource};
use super::triggers;
use crate::error::{Error, ErrorKind, Result};
use crate::pg::catalog::derivation::{self, DerivationKind};
use crate::pg::catalog::kept_reply;
use crate::pg::catalog::operator::Operators;
use crate::pg::catalog::owner::as_owner;
use crate::pg::catalog::pipeline::{self, Pipeline};
use crate::pg::catalog::relation;
use crate::pg::catalog::source::SourceTable;
use crate::pg::catalog::view::{self, ViewColumn};
use crate::pg::changes::{intake, noted};
use crate::pg::derivation::column_relations::changes::forget_missing;
use crate::pg::server::role::{Acting, SUPERUSER};
use crate::pg::server::sql::{self, query, render};
use crate::pg::server::transaction::in_subtransaction;

/// What an ALTER TABLE is about to do to the columns of a table.
#[derive(Clone, Debug, Default)]
pub struct TableAlteration {
    /// OID of the table.
    pub table: pg_sys::Oid,
    /// Columns that it drops.
    pub dropped: Vec<String>,
    /// Columns that get another type.
    pub retyped: Vec<String>,
    /// Columns among these whose values an expression makes.
    pub converted: Vec<String>,
}

impl TableAlteration {
    fn concerns(&self, column: &str) -> bool {
        [&self.dropped, &self.retyped].iter().any(|names| names.iter().any(|name| name == column))
    }
}

/// A column of the source's key, and what the pipeline's relations call it.
struct Named {
    source: String,
    here: ViewColumn,
}

/// A pipeline without its content view.
struct Detached {
    pipeline: Pipeline,
    alteration: TableAlteration,
    key: Vec<Named>,
    content: Expression,
    title: Option<Expression>,
    /// The metadata that stays.
    metadata: Vec<MetadataSource>,
    /// Metadata columns that are about to be dropped.
    dropped: Vec<ViewColumn>,
    /// Columns that get another type and are read for content or title.
    read: Vec<String>,
    /// Those of them that hold no files before.
    without_files: Vec<String>,
    /// Columns of the source that hold texts before.
    texts: Vec<String>,
    /// Whether to read the content's literals may call functions of users.
    has_types_of_users: bool,
}

/// The type of a column whose values are files.
const FILES: &str = "bytea";

thread_local! {
    static DETACHED: RefCell<Vec<Detached>> = const { RefCell::new(Vec::new()) };
}

/// Before an ALTER TABLE: takes away what is in its way. An error where a key or content would go.
pub fn begin(alteration: &TableAlteration) -> Result<()> {
    let _acting = Acting::as_role(SUPERUSER);
    // A statement that has failed has taken nothing away in the end.
    let mut detached = DETACHED.take();
    let mut waiting = Vec::new();
    for one in detached.drain(..) {
        if is_detached(&one.pipeline)? {
            waiting.push(one);
        }
    }
    let statement = query!(remake.pipelines_below);
    let arguments = [alteration.table.into()];
    for id in sql::rows(statement, &arguments, |row| sql::required(row.get::<i32>(1)?))? {
        let Some(pipeline) = pipeline::by_id(id)? else { continue };
        if !is_detached(&pipeline)? {
            waiting.extend(Detached::take(pipeline, alteration)?);
        }
    }
    DETACHED.set(waiting);
    Ok(())
}

/// After an ALTER TABLE of `tables`: makes anew what was taken away for it. To be called as the
/// superuser.
pub fn end(tables: impl Fn() -> Result<Vec<pg_sys::Oid>>) -> Result<()> {
    let detached = DETACHED.take();
    if detached.is_empty() {
        return Ok(());
    }
    let tables = tables()?;
    let (ours, others): (Vec<_>, Vec<_>) =
        detached.into_iter().partition(|one| tables.contains(&one.alteration.table));
    DETACHED.set(others);
    for one in ours {
        // Not one of a statement that has failed.
        if is_detached(&one.pipeline)? {
            one.put_back()?;
        }
    }
    Ok(())
}

/// Whether the pipeline has no content view in this transaction.
fn is_detached(pipeline: &Pipeline) -> Result<bool> {
    let now = pipeline::by_id(pipeline.id)?;
    Ok(now.is_some_and(|now| now.content_view.oid == pg_sys::InvalidOid))
}

impl Detached {
    /// Takes away what is in the way of `alteration`, if anything is.
    fn take(pipeline: Pipeline, alteration: &TableAlteration) -> Result<Option<Detached>> {
        let mut read = view::columns_read(&pipeline)?;
        read.retain(|name| alteration.concerns(name));
        if read.is_empty() {
            return Ok(None);
        }
        let source = SourceTable::describe(pipeline.source.oid)?;
        let columns = view::content_columns(&pipeline)?;
        let name = |(source, here)| Named { source, here };
        let of_key = view::source_key_names(&pipeline).into_iter();
        let key: Vec<Named> = of_key.zip(columns.keys).map(name).collect();
        let metadata = metadata::sources(&pipeline, &source)?;
        let in_content = view::names_in_content(&pipeline)?;
        // What is neither, a query within the content reads.
        let is_content = |name: &String| {
            in_content.contains(name) || !metadata.iter().any(|column| column.reads.contains(name))
        };
        for name in &read {
            if key.iter().any(|column| column.source == *name) {
                return Err(in_key(name, &pipeline));
            }
            if is_content(name) && alteration.dropped.contains(name) {
                return Err(in_content_of(name, &pipeline));
            }
        }
        let read: Vec<String> = read.into_iter().filter(is_content).collect();
        let has_files =
            |name: &String| source.column(name).is_some_and(|column| column.sql_type == FILES);
        let without_files = read.iter().filter(|name| !has_files(name)).cloned().collect();
        let texts = source.columns.iter().filter(|column| column.is_text);
        let is_kept = |column: &MetadataSource| {
            !column.reads.iter().any(|name| alteration.dropped.contains(name))
        };
        let (kept, gone): (Vec<_>, Vec<_>) = metadata.into_iter().partition(is_kept);
        let view = [pipeline.content_view.oid.into()];
        let of_users = sql::rows(query!(remake.types_of_users), &view, |_| Ok(()))?;
        let detached = Detached {
            has_types_of_users: !of_users.is_empty(),
            alteration: alteration.clone(),
            key,
            content: content::current(&pipeline, &source)?,
            title: content::current_title(&pipeline, &source)?,
            dropped: gone.into_iter().map(|column| column.here).collect(),
            read,
            without_files,
            texts: texts.map(|column| column.name.clone()).collect(),
            metadata: kept,
            pipeline,
        };
        detached.drop_readers()?;
        Ok(Some(detached))
    }

    /// Drops what reads the columns.
    fn drop_readers(&self) -> Result<()> {
        triggers::drop_for_update(&self.pipeline)?;
        // First, since dropping a content view drops the pipeline.
        pipeline::set_content_view(self.pipeline.id, None)?;
        drop_view(&self.pipeline.content_view.sql)
    }

    /// Makes it anew, and has chunks and queue follow.
    fn put_back(self) -> Result<()> {
        let source = SourceTable::describe(self.pipeline.source.oid)?;
        self.check_is_text(&source)?;
        let owner = quote_identifier(&source.owner);
        let name = &self.pipeline.content_view.sql;
        let statement = self.content_view(&source);
        // The owner may lack the right to create a view; as a superuser nothing of users is to be called.
        let create = || sql::execute(&statement, &[]).map(drop);
        let made = in_subtransaction(|| match self.has_types_of_users {
            true => as_owner(&self.pipeline, create),
            false => create(),
        });
        if let Err(failure) = made {
            return Err(self.cannot_be_made(&source, &failure.message));
        }
        comment::on_content_view(name, &comment::name_of(&self.pipeline)?, self.title.is_some())?;
        comment::on_shown(name, source.oid, &self.shown())?;
        relation::give_relation("VIEW", name, &owner)?;
        pipeline::set_content_view(self.pipeline.id, Some(name))?;
        let retyped = self.retyped()?;
        if !(self.dropped.is_empty() && retyped.is_empty()) {
            self.alter_chunks(&source, &retyped)?;
        }
        let Some(pipeline) = pipeline::by_id(self.pipeline.id)? else { return Ok(()) };
        triggers::create_for_update(&pipeline)?;
        if !self.dropped.is_empty() {
            forget_missing(&pipeline)?;
            // The chunks are as they were, but for what stood in the columns.
            kept_reply::forget(pipeline.id)?;
        }
        let has_made = retyped.iter().any(|column| column.is_made);
        if has_made || self.may_be_another_text(&source) || self.says_less(&pipeline)? {
            intake::leave(pipeline.id, intake::ChangeKind::All)?;
            noted::wake_at_commit();
        }
        Ok(())
    }

    /// An error where the content would show the bytes of what has become a file, in digits.
    fn check_is_text(&self, source: &SourceTable) -> Result<()> {
        let is_file =
            |name: &&String| source.column(name).is_some_and(|column| column.sql_type == FILES);
        let Some(column) = self.without_files.iter().find(is_file) else { return Ok(()) };
        let of = &self.pipeline.name;
        let message = format!(
            "the content of pipeline \"{of}\" is made of the text of column \"{column}\", which would have type {FILES}"
        );
        Err(Error::new(ErrorKind::NotInState, message).hint(other_content(of)))
    }

    fn content_view(&self, source: &SourceTable) -> String {
        let metadata = self.metadata.iter().map(|it| match it.column {
            // A cast that has nothing to do any more would leave the bare column, as of one that is copied.
            None if !it.sql.starts_with("(COALESCE(") => {
                format!(", COALESCE({}) AS {}", it.sql, it.here.name)
            }
            _ => format!(", {} AS {}", it.sql, it.here.name),
        });
        let title = self.title.as_ref().map_or_else(String::new, |title| {
            let values = [("title", title.sql.as_str()), ("name", view::TITLE)];
            render(query!(create.content_title), &values)
        });
        render(
            query!(create.content_view),
            &[
                ("content_view", &self.pipeline.content_view.sql),
                ("keys", &self.keys(source).join(", ")),
                ("content", &self.content.sql),
                ("content_type", self.content.sql_type),
                ("title", &title),
                ("metadata", &metadata.collect::<String>()),
                ("source", &source.sql),
                ("alias", &quote_identifier(&source.name)),
            ],
        )
    }

    /// The key of a row of the source, as the content view has it.
    fn keys(&self, source: &SourceTable) -> Vec<String> {
        let alias = quote_identifier(&source.name);
        let column =
            |it: &Named| format!("{alias}.{} AS {}", quote_identifier(&it.source), it.here.name);
        self.key.iter().map(column).collect()
    }

    /// The metadata columns that are to follow the content view, which has been made anew.
    fn retyped(&self) -> Result<Vec<Retyped>> {
        let Some(pipeline) = pipeline::by_id(self.pipeline.id)? else { return Ok(Vec::new()) };
        let now = view::content_columns(&pipeline)?.metadata;
        let TableAlteration { retyped, converted, .. } = &self.alteration;
        let follows = |(before, now): (&MetadataSource, ViewColumn)| {
            let altered: Vec<&String> =
                before.reads.iter().filter(|name| retyped.contains(name)).collect();
            let is_made = match &before.column {
                Some(column) => converted.contains(column),
                // Expressions see padding and collations.
                None => !altered.is_empty(),
            };
            (!altered.is_empty()).then_some(Retyped { now, is_made })
        };
        Ok(self.metadata.iter().zip(now).filter_map(follows).collect())
    }

    /// Rows, `s`, that have the source's key under what `name` calls it, and chunks, `c`, that are of them.
    fn key_join(&self, name: impl Fn(&Named) -> String) -> String {
        let equal = |column: &Named| {
            let source = format!("s.{}", name(column));
            let chunks = format!("c.{}", column.here.name);
            Operators::of(column.here.type_oid).equal_to(&source, &chunks)
        };
        self.key.iter().map(equal).collect::<Vec<_>>().join(" AND ")
    }

    /// The columns of the source that the views show, and what expressions make of them.
    fn shown(&self) -> Vec<ShownColumn> {
        let keys = self.key.iter().map(|it| ShownColumn::key(it.here.name.clone(), &it.source));
        let metadata = self.metadata.iter();
        let metadata =
            metadata.map(|it| ShownColumn::metadata(it.here.name.clone(), it.column.as_deref()));
        keys.chain(metadata).collect()
    }

    /// Whether a column is gone that may have said something of its row.
    fn says_less(&self, pipeline: &Pipeline) -> Result<bool> {
        let says = derivation::of(pipeline.id, DerivationKind::ColumnRelations)?;
        Ok(says.is_some() && !self.dropped.is_empty())
    }

    /// Whether content or title may be another text now.
    fn may_be_another_text(&self, source: &SourceTable) -> bool {
        self.read.iter().any(|name| !self.stays_text(name, source))
    }

    /// Whether a column that gets another type holds the texts that it held before. A text stays what it is in another type
    /// for texts.
    fn stays_text(&self, name: &str, source: &SourceTable) -> bool {
        let is_text = source.column(name).is_some_and(|column| column.is_text);
        let is_among = |names: &[String]| names.iter().any(|it| it == name);
        is_text && is_among(&self.texts) && !is_among(&self.alteration.converted)
    }

    /// The error where the content view can't be made anew.
    fn cannot_be_made(&self, source: &SourceTable, why: &str) -> Error {
        let (of, source) = (&self.pipeline.name, &source.sql);
        let has_expressions = self.metadata.iter().any(|column| column.column.is_none());
        let what = if has_expressions { "content or metadata" } else { "content" };
        let message = format!(
            "the {what} of pipeline \"{of}\" cannot be made of {source} as it would be: {why}"
        );
        let hint = match has_expressions {
            true => first_alter(
                of,
                "another content or other metadata",
                "content => ..., metadata => ...",
            ),
            false => other_content(of),
        };
        Error::new(ErrorKind::NotInState, message).hint(hint)
    }
}

fn drop_view(view: &str) -> Result<()> {
    let statement = render(query!(relation.drop_view), &[("view", view)]);
    sql::execute(&statement, &[]).map(drop)
}

fn in_key(column: &str, pipeline: &Pipeline) -> Error {
    let name = &pipeline.name;
    let message = format!("column \"{column}\" is of the key of pipeline \"{name}\"");
    Error::new(ErrorKind::NotInState, message).hint(
        "Drop the pipeline with rag_drop_pipeline first, and create it again after the change.",
    )
}

fn in_content_of(column: &str, pipeline: &Pipeline) -> Error {
    let name = &pipeline.name;
    let message = format!("the content of pipeline \"{name}\" is made of column \"{column}\"");
    Error::new(ErrorKind::NotInState, message).hint(other_content(name))
}

fn other_content(pipeline: &str) -> String {
    first_alter(pipeline, "another content", "content => ...")
}

/// What to do before a column can go or get another type.
fn first_alter(pipeline: &str, other: &str, arguments: &str) -> String {
    format!(
        "First give it {other} with rag_alter_pipeline('{pipeline}', {arguments}), and rag_wait until its chunks are made; or drop it with rag_drop_pipeline('{pipeline}')."
    )
}
