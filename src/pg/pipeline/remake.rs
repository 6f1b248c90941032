//! Columns of a source are dropped, or get another type: what of a pipeline is in the way?
//!
//! The content view and the trigger for updates read the columns, so PostgreSQL would refuse the
//! statement, or with CASCADE drop both, and with them the pipeline. So both are taken away before
//! an ALTER TABLE begins and are made anew when it ends, in the same transaction. Metadata goes
//! with its column. Key and content stay: what would the chunks be of?

mod vector_indexes;

use std::cell::RefCell;

use pgrx::prelude::*;
use pgrx::spi::quote_identifier;

use self::vector_indexes::VectorIndex;
use super::comment::{self, ShownColumn};
use super::content::{self, Expression};
use super::triggers;
use crate::error::{Error, ErrorKind, Result};
use crate::pg::catalog::derivation::{self, DerivationKind};
use crate::pg::catalog::grants::Grants;
use crate::pg::catalog::operator::{self, Operators};
use crate::pg::catalog::owner::as_owner;
use crate::pg::catalog::pipeline::{self, Pipeline};
use crate::pg::catalog::relation;
use crate::pg::catalog::source::{SourceColumn, SourceTable};
use crate::pg::catalog::view::{self, ViewColumn};
use crate::pg::changes::{intake, noted};
use crate::pg::derivation::column_relations::changes::forget_missing;
use crate::pg::index::hnsw;
use crate::pg::server::role::{Acting, SUPERUSER};
use crate::pg::server::sql::{self, query, render};
use crate::pg::server::transaction::in_subtransaction;

/// What an ALTER TABLE is about to do to the columns of a table.
#[derive(Debug, Default)]
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

/// A column of the source, and what the pipeline's relations call it.
struct Named {
    source: String,
    here: ViewColumn,
}

/// A pipeline without its content view.
struct Detached {
    pipeline: Pipeline,
    altered: pg_sys::Oid,
    key: Vec<Named>,
    content: Expression,
    title: Option<Expression>,
    metadata: Vec<Named>,
    /// Metadata columns that are about to be dropped, and those that are about to have another type;
    /// of the latter, whether an expression makes their values.
    dropped: Vec<ViewColumn>,
    retyped: Vec<(ViewColumn, bool)>,
    /// Columns that are read, other than metadata, and their types before; none where an expression
    /// makes their values.
    read: Vec<(String, Option<bool>)>,
    /// Those of them that hold no files before.
    without_files: Vec<String>,
    /// Whether to read the content's literals may call functions of users.
    has_types_of_users: bool,
}

/// A column for the while in which another gets a new type, with the values that the other is to have. Both names are
/// quoted.
struct FilledColumn {
    of: String,
    name: String,
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
        detached.into_iter().partition(|one| tables.contains(&one.altered));
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
        let of_metadata = view::metadata_names(&pipeline)?.into_iter();
        let metadata: Vec<Named> = of_metadata.zip(columns.metadata).map(name).collect();
        let in_content = view::names_in_content(&pipeline)?;
        // What is neither, a query within the content reads.
        let is_content = |name: &String| {
            in_content.contains(name) || !metadata.iter().any(|column| column.source == *name)
        };
        for name in &read {
            if key.iter().any(|column| column.source == *name) {
                return Err(in_key(name, &pipeline));
            }
            if is_content(name) && alteration.dropped.contains(name) {
                return Err(in_content_of(name, &pipeline));
            }
        }
        let text_before = |name: String| {
            let is_text = source.column(&name).is_some_and(|column| column.is_text);
            let is_converted = alteration.converted.contains(&name);
            (name, (!is_converted).then_some(is_text))
        };
        let read: Vec<String> = read.into_iter().filter(is_content).collect();
        let has_files =
            |name: &String| source.column(name).is_some_and(|column| column.sql_type == FILES);
        let without_files = read.iter().filter(|name| !has_files(name)).cloned().collect();
        let read = read.into_iter().map(text_before).collect();
        let (kept, gone): (Vec<_>, Vec<_>) =
            metadata.into_iter().partition(|column| !alteration.dropped.contains(&column.source));
        let retyped = kept.iter().filter(|column| alteration.retyped.contains(&column.source));
        let retyped = retyped
            .map(|column| (column.here.clone(), alteration.converted.contains(&column.source)))
            .collect();
        let view = [pipeline.content_view.oid.into()];
        let of_users = sql::rows(query!(remake.types_of_users), &view, |_| Ok(()))?;
        let detached = Detached {
            has_types_of_users: !of_users.is_empty(),
            altered: alteration.table,
            key,
            content: content::current(&pipeline, &source)?,
            title: content::current_title(&pipeline, &source)?,
            dropped: gone.into_iter().map(|column| column.here).collect(),
            retyped,
            read,
            without_files,
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
            let (of, why) = (&self.pipeline.name, failure.message);
            let message = format!(
                "the content of pipeline \"{of}\" cannot be made of {} as it would be: {why}",
                source.sql
            );
            return Err(Error::new(ErrorKind::NotInState, message).hint(other_content(of)));
        }
        comment::on_content_view(name, &comment::name_of(&self.pipeline)?, self.title.is_some())?;
        comment::on_shown(name, source.oid, &self.shown())?;
        relation::give_relation("VIEW", name, &owner)?;
        pipeline::set_content_view(self.pipeline.id, Some(name))?;
        if !(self.dropped.is_empty() && self.retyped.is_empty()) {
            self.alter_chunks(&source)?;
        }
        let Some(pipeline) = pipeline::by_id(self.pipeline.id)? else { return Ok(()) };
        triggers::create_for_update(&pipeline)?;
        if !self.dropped.is_empty() {
            forget_missing(&pipeline)?;
        }
        if self.may_have_other_values(&source) || self.says_less(&pipeline)? {
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
        let alias = quote_identifier(&source.name);
        let column =
            |it: &Named| format!("{alias}.{} AS {}", quote_identifier(&it.source), it.here.name);
        let keys: Vec<String> = self.key.iter().map(column).collect();
        let metadata: String = self.metadata.iter().map(|it| format!(", {}", column(it))).collect();
        let title = self.title.as_ref().map_or_else(String::new, |title| {
            let values = [("title", title.sql.as_str()), ("name", view::TITLE)];
            render(query!(create.content_title), &values)
        });
        render(
            query!(create.content_view),
            &[
                ("content_view", &self.pipeline.content_view.sql),
                ("keys", &keys.join(", ")),
                ("content", &self.content.sql),
                ("content_type", self.content.sql_type),
                ("title", &title),
                ("metadata", &metadata),
                ("source", &source.sql),
                ("alias", &alias),
            ],
        )
    }

    /// Has the chunks' metadata follow, and with it the view that shows it.
    fn alter_chunks(&self, source: &SourceTable) -> Result<()> {
        let Pipeline { id, view, .. } = &self.pipeline;
        let grants = Grants::of(view.oid)?;
        drop_view(&view.sql)?;
        let indexes = self.vector_indexes(source)?;
        as_owner(&self.pipeline, || {
            indexes.iter().try_for_each(VectorIndex::take_away)?;
            self.alter_chunk_table(source)
        })?;
        // The owner may lack the right to create an index, which ALTER TABLE does not ask for. There is no expression of
        // the owner's in these, which a superuser would read with all rights.
        indexes.iter().try_for_each(VectorIndex::put_back)?;
        self.create_view(source)?;
        relation::give_relation("VIEW", &view.sql, &quote_identifier(&source.owner))?;
        pipeline::set_view(*id, &view.sql)?;
        if let Some(now) = pipeline::by_id(*id)? {
            grants.give_on(&now.view)?;
        }
        if pipeline::set_filling_where_unindexed(*id)? {
            noted::wake_at_commit();
        }
        Ok(())
    }

    /// As the owner: values may become others by casts of that owner's.
    fn alter_chunk_table(&self, source: &SourceTable) -> Result<()> {
        let Pipeline { name, chunk_table, .. } = &self.pipeline;
        let table = ("chunk_table", chunk_table.sql.as_str());
        for column in &self.dropped {
            let template = query!(remake.drop_column);
            sql::execute(&render(template, &[table, ("column", &column.name)]), &[])?;
            notice!("pipeline \"{name}\" goes on without the metadata column {}", column.name);
        }
        let filled = self.add_filled(source)?;
        let change = |(column, _): &(ViewColumn, bool)| {
            let value = filled.iter().find(|it| it.of == column.name);
            let value = value.map_or(column.name.as_str(), |it| it.name.as_str());
            let kind = self.type_now(source, column);
            let values = [("column", column.name.as_str()), ("type", kind), ("value", value)];
            render(query!(remake.change_of_type), &values)
        };
        let changes = self.retyped.iter().map(change).collect::<Vec<_>>().join(", ");
        if !changes.is_empty() {
            let values = [table, ("changes", changes.as_str())];
            sql::execute(&render(query!(remake.change_types), &values), &[])?;
        }
        for FilledColumn { name, .. } in &filled {
            let values = [table, ("column", name.as_str())];
            sql::execute(&render(query!(remake.drop_column), &values), &[])?;
        }
        Ok(())
    }

    /// For each column whose values an expression over the source makes, adds one with what the source says now: a filter
    /// would otherwise find nothing, or what it should not, until workers have seen all rows. The change of the type then
    /// writes the table without the rows as they were before.
    fn add_filled(&self, source: &SourceTable) -> Result<Vec<FilledColumn>> {
        let (mut filled, mut values) = (Vec::new(), Vec::new());
        let table = ("chunk_table", self.pipeline.chunk_table.sql.as_str());
        let all = || self.key.iter().chain(&self.metadata);
        let is_free = |name: &String| all().all(|it| it.here.name != *name);
        let mut free = (0..).map(|at| quote_identifier(format!(" {at}"))).filter(is_free);
        for (column, _) in self.retyped.iter().filter(|(_, is_converted)| *is_converted) {
            let now = self.column_of(source, column).zip(free.next());
            let Some((now, name)) = now else { continue };
            // Of a domain, chunks whose row is gone may lack a value that it wants.
            let kind = operator::type_name(operator::base_type(now.type_oid));
            let columns = [table, ("column", name.as_str()), ("type", &kind)];
            sql::execute(&render(query!(remake.add_column), &columns), &[])?;
            values.push(format!("{name} = s.{}", quote_identifier(&now.name)));
            filled.push(FilledColumn { of: column.name.clone(), name });
        }
        if !filled.is_empty() {
            let (values, join) = (values.join(", "), self.key_join());
            let values =
                [table, ("values", &*values), ("source", &source.sql), ("key_join", &join)];
            sql::execute(&render(query!(remake.fill_columns), &values), &[])?;
        }
        Ok(filled)
    }

    /// Indexes of the vectors that are in the way. One that filters by a column that goes, or by one whose type is now none to
    /// filter by, goes too. Where columns are filled, others are made anew.
    fn vector_indexes(&self, source: &SourceTable) -> Result<Vec<VectorIndex>> {
        let can_filter = |column: &ViewColumn| {
            self.column_of(source, column).is_some_and(|it| hnsw::can_filter_by(it.type_oid))
        };
        let retyped = self.retyped.iter().map(|(column, _)| column);
        let unfit = self.dropped.iter().chain(retyped.filter(|&column| !can_filter(column)));
        let unfit: Vec<String> = unfit.map(ViewColumn::bare).collect();
        let is_filled = self.retyped.iter().any(|(_, is_converted)| *is_converted);
        VectorIndex::in_the_way(self.pipeline.chunk_table.oid, unfit, is_filled)
    }

    fn type_now<'a>(&self, source: &'a SourceTable, here: &ViewColumn) -> &'a str {
        self.column_of(source, here).map_or("pg_catalog.text", |column| column.sql_type.as_str())
    }

    /// The column of the source that a metadata column is a copy of.
    fn column_of<'a>(
        &self,
        source: &'a SourceTable,
        here: &ViewColumn,
    ) -> Option<&'a SourceColumn> {
        let named = self.metadata.iter().find(|column| column.here.name == here.name);
        named.and_then(|column| source.column(&column.source))
    }

    /// Rows of the source, `s`, that chunks, `c`, are of.
    fn key_join(&self) -> String {
        let equal = |column: &Named| {
            let source = format!("s.{}", quote_identifier(&column.source));
            let chunks = format!("c.{}", column.here.name);
            Operators::of(column.here.type_oid).equal_to(&source, &chunks)
        };
        self.key.iter().map(equal).collect::<Vec<_>>().join(" AND ")
    }

    fn create_view(&self, source: &SourceTable) -> Result<()> {
        let shown = |column: &Named| format!("c.{}", column.here.name);
        let keys: Vec<String> = self.key.iter().map(shown).collect();
        let metadata: String = self.metadata.iter().map(|it| format!(", {}", shown(it))).collect();
        let statement = render(
            query!(create.view),
            &[
                ("view", &self.pipeline.view.sql),
                ("chunk_table", &self.pipeline.chunk_table.sql),
                ("source", &source.sql),
                ("keys", &keys.join(", ")),
                ("metadata", &metadata),
                ("key_join", &self.key_join()),
            ],
        );
        sql::execute(&statement, &[])?;
        let view = &self.pipeline.view.sql;
        comment::on_view(view, &comment::name_of(&self.pipeline)?)?;
        comment::on_shown(view, source.oid, &self.shown())
    }

    /// The columns of the source that the views show.
    fn shown(&self) -> Vec<ShownColumn> {
        let name = |it: &Named| it.here.name.clone();
        let keys = self.key.iter().map(|it| ShownColumn::key(name(it), &it.source));
        let metadata = self.metadata.iter();
        keys.chain(metadata.map(|it| ShownColumn::metadata(name(it), &it.source))).collect()
    }

    /// Whether a column is gone that may have said something of its row.
    fn says_less(&self, pipeline: &Pipeline) -> Result<bool> {
        let says = derivation::of(pipeline.id, DerivationKind::ColumnRelations)?;
        Ok(says.is_some() && !self.dropped.is_empty())
    }

    /// Whether a document, or metadata, may have another value now. A text stays what it is in
    /// another type for texts.
    fn may_have_other_values(&self, source: &SourceTable) -> bool {
        let is_text = |name: &String| source.column(name).is_some_and(|column| column.is_text);
        self.read.iter().any(|(name, was_text)| *was_text != Some(true) || !is_text(name))
            || self.retyped.iter().any(|(_, is_converted)| *is_converted)
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
    format!(
        "First give it another content with rag_alter_pipeline('{pipeline}', content => ...), and rag_wait until its chunks are made; or drop it with rag_drop_pipeline('{pipeline}')."
    )
}
