//! The relations and triggers of a pipeline: made, and dropped again.
//!
//! A pipeline called `docs`, as one over the table `docs` is by default, has
//!
//! * `docs_rag_content`, a view: key, content and metadata of each row. The one place that
//!   knows the source's columns; PostgreSQL keeps it right through renames and dumps.
//! * `docs_rag_chunks`, a table: the chunks.
//! * `docs_rag`, a view of the chunks as the caller may see them.
//! * triggers on `docs` that call `rag.capture`.
//!
//! All but the triggers are in the schema of the table, or in the one that `rag.relations_schema` names.
//!
//! While it is made anew, with another model for instance, its successor has all of these too,
//! with the generation's number at the end of their names.

use pgrx::prelude::*;
use pgrx::spi::{quote_identifier, quote_literal, quote_qualified_identifier};

use super::comment::{self, ShownColumn};
use super::content::Expression;
use super::metadata::MetadataDefinition;
use super::{shards, triggers};
use crate::chunk::ChunkingOptions;
use crate::contextual::ContextualOptions;
use crate::error::{Error, ErrorKind, Result};
use crate::pg::catalog::model::RegisteredModel;
use crate::pg::catalog::operator::Operators;
use crate::pg::catalog::owner::as_owner;
use crate::pg::catalog::pipeline::{
    self, NewPipeline, Pipeline, PipelineStage, RefreshMode, Relation,
};
use crate::pg::catalog::relation::{drop_if_there, give_relation, let_readers_read};
use crate::pg::catalog::source::SourceTable;
use crate::pg::catalog::{locking, shard, view};
use crate::pg::derivation::{context_lines, table as derived_table};
use crate::pg::server::role::{self, LocalSettings};
use crate::pg::server::sql::{self, query, render};
use crate::request::ALL;
use crate::rewrite::route::AUTO;

/// Columns of a chunk table that metadata must not be called like.
const RESERVED: [&str; 17] = [
    "chunk_id",
    "chunk_no",
    "content",
    "start_char",
    "end_char",
    "heading",
    "token_count",
    "content_hash",
    "model",
    "embedding",
    "tsv",
    "parent_start",
    "parent_end",
    "context",
    "context_line",
    "context_key",
    view::TITLE,
];

/// Longest name of a relation, in bytes.
const LONGEST_NAME: usize = pg_sys::NAMEDATALEN as usize - 1;

/// What is to be made.
pub struct PipelinePlan<'a> {
    /// Name of the pipeline.
    pub name: String,
    /// The table whose rows are embedded.
    pub source: SourceTable,
    /// The schema of all that is made, without quotes.
    pub schema: String,
    /// Names of its key columns.
    pub key: Vec<String>,
    /// What is cut and embedded.
    pub content: Expression,
    /// Whether title and headings are embedded with each chunk.
    pub contextual: bool,
    /// Which language model says in which connection a chunk stands, where that is embedded, too.
    pub situated: Option<ContextualOptions>,
    /// What a row is called.
    pub title: Option<Expression>,
    /// Columns that stand beside each chunk.
    pub metadata: Vec<MetadataDefinition>,
    /// Qualified name of the text search configuration.
    pub config: &'a str,
    /// What embeds changed rows: workers, the statement that changes them, or `rag_run`.
    pub refresh: RefreshMode,
    /// How far the first embedding will be when the transaction ends.
    pub stage: PipelineStage,
    /// The pipeline whose place it is to take.
    pub predecessor: Option<&'a Pipeline>,
    /// The model that embeds the chunks.
    pub model: RegisteredModel,
    /// How documents are cut.
    pub chunking: ChunkingOptions,
}

impl PipelinePlan<'_> {
    /// Makes everything but the chunks.
    pub fn carry_out(self) -> Result<Pipeline> {
        self.check()?;
        let generation = self.predecessor.map_or(1, |before| before.generation + 1);
        let names = Names::of(&self.schema, &self.name, generation);
        names.check_free()?;
        self.create_content_view(&names)?;
        self.create_chunk_table(&names)?;
        self.create_view(&names)?;
        let relations = [&names.chunk_table, &names.content_view, &names.view];
        // What a superuser makes for another role's source belongs to that role.
        give_relations(relations.map(String::as_str), &quote_identifier(&self.source.owner))?;
        let readable = format!("{}, {}", names.chunk_table, names.view);
        let_readers_read(self.source.oid, &readable)?;
        let id = pipeline::insert(&NewPipeline {
            name: self.predecessor.is_none().then_some(self.name.as_str()),
            source: self.source.oid,
            content_view: &names.content_view,
            chunk_table: &names.chunk_table,
            view: &names.view,
            key_columns: self.key.len() as i32,
            model: &self.model.reference.name,
            chunking: &self.chunking,
            contextual: self.contextual,
            config: self.config,
            refresh: self.refresh,
            stage: self.stage,
            generation,
            replaces: self.predecessor.map(|before| before.id),
        })?;
        let mut pipeline = pipeline::by_id(id)?.ok_or_else(|| {
            let message = format!("pipeline {id} is not there after its creation");
            Error::new(ErrorKind::Internal, message)
        })?;
        if let Some(wanted) = &self.situated {
            context_lines::create(&pipeline, wanted, self.predecessor)?;
            pipeline.situated = true;
        }
        view::check_row_by_row(&pipeline)?;
        triggers::create(&pipeline)?;
        Ok(pipeline)
    }

    fn check(&self) -> Result<()> {
        if self.predecessor.is_none() {
            check_name(&self.name)?;
        }
        self.metadata.iter().try_for_each(|column| self.check_metadata_name(column))
    }

    fn check_metadata_name(&self, column: &MetadataDefinition) -> Result<()> {
        let name = column.name.as_str();
        let taken =
            RESERVED.contains(&name) || self.key.iter().any(|key| format!("source_{key}") == name);
        let way_out = match column.expression {
            Some(_) => "Give it another name behind AS.",
            None => {
                "Rename the column, or leave it out; the option \"title\" takes a column of headings."
            }
        };
        match taken {
            false => Ok(()),
            true => Err(Error::new(
                ErrorKind::DuplicateObject,
                format!("metadata column \"{name}\" has the name of a column of the chunk table"),
            )
            .hint(format!("{way_out} Names in use: {}.", RESERVED.join(", ")))),
        }
    }

    fn create_content_view(&self, names: &Names) -> Result<()> {
        let alias = quote_identifier(&self.source.name);
        let column = |name: &String| format!("{alias}.{}", quote_identifier(name));
        let keys = list(&self.key, |key| format!("{} AS {}", column(key), key_name(key)));
        let metadata = self.metadata.iter().map(|column| column.selected(&alias));
        let title = match &self.title {
            Some(title) => {
                let values = [("title", title.sql.as_str()), ("name", view::TITLE)];
                render(query!(create.content_title), &values)
            }
            None => String::new(),
        };
        let statement = render(
            query!(create.content_view),
            &[
                ("content_view", &names.content_view),
                ("keys", &keys),
                ("content", &self.content.sql),
                ("content_type", self.content.sql_type),
                ("title", &title),
                ("metadata", &metadata.collect::<String>()),
                ("source", &self.source.sql),
                ("alias", &alias),
            ],
        );
        let create = || sql::execute(&statement, &[]).map(drop);
        match self.predecessor {
            Some(before) if self.may_call_owner(before)? => {
                // What the caller wrote names things as the caller sees them.
                let path = role::search_path();
                as_owner(before, || {
                    let mut settings = LocalSettings::new();
                    settings.set(c"search_path", &path);
                    create()
                })?;
            }
            _ => create()?,
        }
        comment::on_content_view(&names.content_view, &self.name, self.title.is_some())?;
        comment::on_shown(&names.content_view, self.source.oid, &self.shown())
    }

    /// Whether to read the literals of `before`'s expressions may call functions of its owner's, who is not the caller.
    fn may_call_owner(&self, before: &Pipeline) -> Result<bool> {
        if role::table_owner(self.source.oid) == role::current_role() {
            return Ok(false);
        }
        let view = [before.content_view.oid.into()];
        let of_users = sql::rows(query!(remake.types_of_users), &view, |_| Ok(()))?;
        Ok(!of_users.is_empty())
    }

    /// The columns of the source that each of the relations shows, and what expressions make of them.
    fn shown(&self) -> Vec<ShownColumn> {
        let keys = self.key.iter().map(|key| ShownColumn::key(key_name(key), key));
        let metadata = self.metadata.iter();
        let metadata =
            metadata.map(|it| ShownColumn::metadata(quote_identifier(&it.name), it.column()));
        keys.chain(metadata).collect()
    }

    fn create_chunk_table(&self, names: &Names) -> Result<()> {
        let typed = |name: &String| self.source.column(name).map_or("", |c| c.sql_type.as_str());
        let keys = list(&self.key, |key| format!("{} {} NOT NULL", key_name(key), typed(key)));
        let metadata = self
            .metadata
            .iter()
            .map(|column| format!(", {} {}", quote_identifier(&column.name), column.sql_type));
        let statement = render(
            query!(create.chunk_table),
            &[
                ("chunk_table", &names.chunk_table),
                ("keys", &keys),
                ("key_names", &list(&self.key, |key| key_name(key))),
                ("vector", &sql::vector_schema()?),
                ("rag", &sql::extension_schema()?),
                ("dimension", &self.model.dimension.to_string()),
                ("config", &quote_literal(self.config)),
                ("metadata", &metadata.collect::<String>()),
            ],
        );
        sql::execute(&statement, &[])?;
        comment::on_chunk_table(&names.chunk_table, &self.name)?;
        comment::on_shown(&names.chunk_table, self.source.oid, &self.shown())?;
        let on_table = |template| render(template, &[("chunk_table", &names.chunk_table)]);
        sql::execute(&on_table(query!(create.lexical_index)), &[])?;
        sql::execute(&on_table(query!(relation.enable_row_security)), &[])?;
        if self.source.forces_row_security {
            sql::execute(&on_table(query!(relation.force_row_security)), &[])?;
        }
        let statement = render(
            query!(create.policy),
            &[
                ("chunk_table", &names.chunk_table),
                ("source", &self.source.sql),
                ("key_join", &self.key_join(&names.bare_chunk_table)?),
            ],
        );
        sql::execute(&statement, &[]).map(drop)
    }

    fn create_view(&self, names: &Names) -> Result<()> {
        let metadata =
            self.metadata.iter().map(|column| format!(", c.{}", quote_identifier(&column.name)));
        let statement = render(
            query!(create.view),
            &[
                ("view", &names.view),
                ("chunk_table", &names.chunk_table),
                ("source", &self.source.sql),
                ("keys", &list(&self.key, |key| format!("c.{}", key_name(key)))),
                ("metadata", &metadata.collect::<String>()),
                ("key_join", &self.key_join("c")?),
            ],
        );
        sql::execute(&statement, &[])?;
        comment::on_view(&names.view, &self.name)?;
        comment::on_shown(&names.view, self.source.oid, &self.shown())
    }

    /// Rows of the source `s` and of a relation with the chunks' key columns that belong together.
    fn key_join(&self, chunks: &str) -> Result<String> {
        let equal = |key: &String| -> Result<String> {
            let column = self.source.column(key).ok_or_else(|| self.source.no_column(key))?;
            let operators = Operators::of(column.type_oid);
            let (source, chunks) = (quote_identifier(key), format!("{chunks}.{}", key_name(key)));
            Ok(operators.equal_to(&format!("s.{source}"), &chunks))
        };
        Ok(self.key.iter().map(equal).collect::<Result<Vec<_>>>()?.join(" AND "))
    }
}

/// Gives a pipeline's relations to another owner, whose name is quoted.
pub fn give_to(pipeline: &Pipeline, owner: &str) -> Result<()> {
    if pipeline.has_shards {
        return shards::give_to(pipeline, owner);
    }
    let relations = [&pipeline.chunk_table, &pipeline.content_view, &pipeline.view];
    give_relations(relations.map(|relation| relation.sql.as_str()), owner)?;
    derived_table::give_to(pipeline, owner)
}

/// Chunk table, content view and view, in this order: an event trigger sees to pipelines whose chunks are another
/// role's than their source, and hears of each.
fn give_relations(relations: [&str; 3], owner: &str) -> Result<()> {
    let kinds = ["TABLE", "VIEW", "VIEW"].into_iter();
    kinds.zip(relations).try_for_each(|(kind, relation)| give_relation(kind, relation, owner))
}

/// An error where a new pipeline can't be called `name`.
pub fn check_name(name: &str) -> Result<()> {
    if name.is_empty() || name.len() > LONGEST_NAME {
        return Err(Error::invalid(format!(
            "name of a pipeline must have 1 to {LONGEST_NAME} bytes: \"{name}\""
        )));
    }
    // Otherwise its owner would have code run by any role that leaves the choice to pg_rag.
    let taken = [(AUTO, "chooses a pipeline"), (ALL, "asks all pipelines")];
    if let Some((_, does)) = taken.into_iter().find(|(taken, _)| *taken == name) {
        return Err(Error::invalid(format!("a pipeline cannot be called \"{name}\""))
            .hint(format!("pipeline => '{name}' {does}. Give it another name with name => ...")));
    }
    match pipeline::exists(name)? {
        false => Ok(()),
        true => Err(Error::new(
            ErrorKind::DuplicateObject,
            format!("pipeline \"{name}\" already exists"),
        )
        .hint("Drop it with rag_drop_pipeline, give this one another name, or leave it as it is with if_not_exists => true.")),
    }
}

/// Drops all that [`PipelinePlan::carry_out`] made and that is still there; whether the pipeline was, and no
/// other had taken its place.
pub fn undo(id: i32) -> Result<bool> {
    let Some(pipeline) = pipeline::lock(id)? else { return Ok(false) };
    let successor = pipeline::successor(id)?;
    let mut generations = Vec::new();
    for generation in successor.into_iter().chain([pipeline]) {
        let mut others = derived_table::of(&generation)?;
        others.extend(shard::tables(&generation)?);
        generations.push((generation, others));
    }
    // First, since dropping a pipeline's relations drops the pipeline; and all of them before any
    // relation is locked, since a session at work on one of them may wait for the source of both.
    generations.iter().try_for_each(|(generation, _)| pipeline::delete(generation.id))?;
    locking::lock_for_drop(&generations)?;
    generations.iter().try_for_each(|(generation, others)| drop_made(generation, others))?;
    Ok(true)
}

fn drop_made(pipeline: &Pipeline, others: &[Relation]) -> Result<()> {
    if pipeline.has_shards {
        return shards::drop_made(pipeline, others);
    }
    others.iter().try_for_each(derived_table::drop_table)?;
    triggers::drop_all(pipeline)?;
    for view in [&pipeline.view, &pipeline.content_view] {
        drop_if_there(query!(relation.drop_view), view, &[("view", &view.sql)])?;
    }
    let table = &pipeline.chunk_table;
    let template = query!(relation.drop_table);
    drop_if_there(template, table, &[("chunk_table", &table.sql)])
}

/// The chunk table's name of a key column.
fn key_name(key: &str) -> String {
    quote_identifier(format!("source_{key}"))
}

fn list<'a>(names: &'a [String], form: impl Fn(&'a String) -> String) -> String {
    names.iter().map(form).collect::<Vec<_>>().join(", ")
}

/// SQL names of a pipeline's relations.
pub struct Names {
    /// Name of the view of the content.
    pub content_view: String,
    /// Name of the chunk table.
    pub chunk_table: String,
    bare_chunk_table: String,
    /// Name of the chunks' view.
    pub view: String,
}

impl Names {
    /// An error where something has one of these names, perhaps what was left of a pipeline when the
    /// extension was dropped.
    pub(super) fn check_free(&self) -> Result<()> {
        let names = vec![&*self.view, &*self.content_view, &*self.chunk_table];
        let statement = query!(create.relations_in_the_way);
        let taken = sql::rows(statement, &[names.into()], |row| {
            Ok((sql::required(row.get::<String>(1)?)?, sql::required(row.get::<String>(2)?)?))
        })?;
        let Some((name, _)) = taken.first() else { return Ok(()) };
        let drops: Vec<&str> = taken.iter().map(|(_, drop)| drop.as_str()).collect();
        Err(Error::new(ErrorKind::DuplicateRelation, format!("relation {name} already exists")).hint(
            format!(
                "Give the pipeline another name. If this is left from a pipeline that went with the extension: {};",
                drops.join("; ")
            ),
        ))
    }

    /// The names of the relations of a pipeline called `pipeline` in a schema.
    pub fn of(schema: &str, pipeline: &str, generation: i32) -> Self {
        let qualified = |suffix| Names::qualified(schema, pipeline, suffix, generation);
        Names {
            content_view: qualified("_rag_content"),
            chunk_table: qualified("_rag_chunks"),
            bare_chunk_table: quote_identifier(Names::bare(pipeline, "_rag_chunks", generation)),
            view: qualified("_rag"),
        }
    }

    /// The name of a relation of a pipeline, with its schema: as much of the pipeline's name as fits, the suffix, and
    /// from the second generation on its number.
    pub fn qualified(schema: &str, pipeline: &str, suffix: &str, generation: i32) -> String {
        quote_qualified_identifier(schema, &Names::bare(pipeline, suffix, generation))
    }

    fn bare(pipeline: &str, suffix: &str, generation: i32) -> String {
        let suffix = match generation {
            1 => suffix.to_owned(),
            later => format!("{suffix}_{later}"),
        };
        let mut name = pipeline.to_owned();
        while name.len() + suffix.len() > LONGEST_NAME {
            name.pop();
        }
        name + &suffix
    }
}
