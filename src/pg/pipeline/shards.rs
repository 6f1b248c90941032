//! Pipelines over shards: their relations, made of what the shards' servers say.
//!
//! A pipeline called `all` over `srv1.docs` and `srv2.docs` has
//!
//! * `all_rag_shard_1` and `all_rag_shard_2`, foreign tables of the views of chunks there;
//! * `all_rag_shard_1_pipeline` and `all_rag_shard_2_pipeline`, foreign tables of what is said of the pipelines there;
//! * `all_rag`, a view of all chunks, which is its source, too: who may read it may ask the pipeline;
//! * `all_rag_content`, a view of key, content and metadata, as every pipeline has one.
//!
//! It has no triggers and no queue: each row is embedded where it is. What a server says is data of a stranger. Names
//! are quoted before they become part of a statement, and types are looked up.

mod described;

use std::cell::Cell;

use pgrx::spi::{quote_identifier, quote_literal};

use self::described::{
    ChunkColumn, ChunkColumns, DescribedShard, ShardName, common_columns, common_model, other_model,
};
use super::comment::{self, ShownColumn};
use super::create::{Names, check_name};
use crate::chunk::ChunkingOptions;
use crate::error::{Error, ErrorKind, Result};
use crate::pg::catalog::grants::Grants;
use crate::pg::catalog::pipeline::{
    self, NewPipeline, Pipeline, PipelineStage, RefreshMode, Relation,
};
use crate::pg::catalog::relation::{drop_if_there, give_relation};
use crate::pg::catalog::shard;
use crate::pg::catalog::view;
use crate::pg::server::role::{role_name, table_owner};
use crate::pg::server::sql::{self, query, render};

/// Most shards of a pipeline. Each is a connection of every session that asks.
const MOST_SHARDS: usize = 256;

/// Makes a pipeline called `name` over the shards that are named.
///
/// Fails where one does not answer, is not there or cannot be read, or has another model or key than the others.
pub fn create(name: &str, shards: &[String]) -> Result<Pipeline> {
    check_name(name)?;
    let schema = current_schema()?;
    let names = Names::of(&schema, name, 1);
    names.check_free()?;
    let shards = described(name, &schema, 1, shards)?;
    let first = &shards[0];
    let model = common_model(&shards)?;
    let config = pipeline::config_name(&first.config)?;
    let columns = common_columns(&shards)?;
    let tables = make_chunk_tables(name, (&schema, 1), &shards, &columns, model.dimension)?;
    make_view(&names.view, &tables, &columns)?;
    comment::on_view(&names.view, name)?;
    let view = oid_of(&names.view)?;
    let shown = shown(&columns);
    comment::on_shown(&names.view, view, &shown)?;
    tables.iter().try_for_each(|table| comment::on_same(table, view))?;
    make_content_view(&names, &columns)?;
    comment::on_content_view(&names.content_view, name, false)?;
    comment::on_shown(&names.content_view, view, &shown)?;
    let id = pipeline::insert(&NewPipeline {
        name: Some(name),
        source: view,
        content_view: &names.content_view,
        chunk_table: &tables[0],
        view: &names.view,
        key_columns: columns.keys.len() as i32,
        model: &model.reference.name,
        chunking: &ChunkingOptions::default(),
        contextual: false,
        config: &config,
        refresh: RefreshMode::Manual,
        stage: PipelineStage::Live,
        generation: 1,
        replaces: None,
    })?;
    keep(id, &shards, &tables)?;
    let pipeline = pipeline::by_id(id)?;
    pipeline.ok_or_else(|| Error::new(ErrorKind::Internal, format!("pipeline {id} is not there")))
}

/// Has a pipeline search other shards. All foreign tables are made anew, and the view, which others may use, shows
/// them with the columns that it has.
///
/// Fails as [`create`] does, and where a shard lacks a column of the view.
pub fn alter(pipeline: &Pipeline, shards: &[String]) -> Result<()> {
    let generation = pipeline.generation + 1;
    let schema = schema_of(pipeline)?;
    let before = shard::tables(pipeline)?;
    let shards = described(&pipeline.name, &schema, generation, shards)?;
    let model = common_model(&shards)?;
    if (&model.reference.name, &shards[0].config) != (&pipeline.model, &pipeline.config) {
        let own = format!("\"{}\" with {}", pipeline.model, pipeline.config);
        return Err(other_model(&pipeline.name, &own, &shards[0]));
    }
    let columns = columns_of(pipeline, &shards)?;
    let place = (schema.as_str(), generation);
    let tables = make_chunk_tables(&pipeline.name, place, &shards, &columns, model.dimension)?;
    make_view(&pipeline.view.sql, &tables, &columns)?;
    tables.iter().try_for_each(|table| comment::on_same(table, pipeline.view.oid))?;
    shard::replace_all(pipeline.id, &tables[0])?;
    keep(pipeline.id, &shards, &tables)?;
    drop_tables(&before)?;
    let owner = quote_identifier(role_name(table_owner(pipeline.view.oid)));
    let changed = pipeline::by_id(pipeline.id)?;
    changed.map_or(Ok(()), |pipeline| {
        give_to(&pipeline, &owner)?;
        share_grants(&pipeline)
    })
}

/// Drops the views of a pipeline over shards and its foreign `tables`, as far as they are still there.
pub fn drop_made(pipeline: &Pipeline, tables: &[Relation]) -> Result<()> {
    for view in [&pipeline.content_view, &pipeline.view] {
        drop_if_there(query!(relation.drop_view), view, &[("view", &view.sql)])?;
    }
    drop_tables(tables)
}

fn drop_tables(tables: &[Relation]) -> Result<()> {
    tables.iter().try_for_each(|table| {
        drop_if_there(query!(shard.drop_table), table, &[("table", &table.sql)])
    })
}

/// Gives the relations of a pipeline over shards to another owner, whose name is quoted.
pub fn give_to(pipeline: &Pipeline, owner: &str) -> Result<()> {
    // The views last: an event trigger sees to pipelines whose view is another role's than the tables.
    let tables = shard::tables(pipeline)?;
    tables.iter().try_for_each(|table| give_relation("FOREIGN TABLE", &table.sql, owner))?;
    let views = [&pipeline.content_view, &pipeline.view];
    views.into_iter().try_for_each(|view| give_relation("VIEW", &view.sql, owner))
}

/// Lets the roles that may read the view read the foreign tables, and no others. What they see there is what the
/// other servers show to those as whom they are mapped.
fn share_grants(pipeline: &Pipeline) -> Result<()> {
    let _sharing = Sharing::begin();
    let grants = Grants::of(pipeline.view.oid)?.of_readers();
    shard::tables(pipeline)?.iter().try_for_each(|table| grants.give_on(table))
}

/// While it lives, privileges are being given on foreign tables, which an event trigger hears of, too.
struct Sharing(bool);

thread_local! {
    static SHARING: Cell<bool> = const { Cell::new(false) };
}

impl Sharing {
    fn begin() -> Self {
        Sharing(SHARING.replace(true))
    }
}

impl Drop for Sharing {
    fn drop(&mut self) {
        // Errors unwind and come by here, too.
        SHARING.set(self.0);
    }
}

/// Has foreign tables follow what was granted on views just now.
pub fn follow_grants() -> Result<()> {
    if SHARING.get() {
        return Ok(());
    }
    let ids = sql::rows(query!(shard.with_other_readers), &[], |row| sql::required(row.get(1)?))?;
    for id in ids {
        pipeline::by_id(id)?.map_or(Ok(()), |pipeline| share_grants(&pipeline))?;
    }
    Ok(())
}

/// The schema in which the relations of a new pipeline are made.
fn current_schema() -> Result<String> {
    let found = sql::rows(query!(shard.schema), &[], |row| row.get::<String>(1))?;
    found.into_iter().next().flatten().ok_or_else(|| {
        Error::new(
            ErrorKind::UndefinedObject,
            "no schema has been selected to create the pipeline in",
        )
        .hint("SET search_path to one that is there.")
    })
}

fn schema_of(pipeline: &Pipeline) -> Result<String> {
    let arguments = [pipeline.view.oid.into()];
    let found = sql::rows(query!(shard.schema_of), &arguments, |row| sql::required(row.get(1)?))?;
    found.into_iter().next().ok_or_else(|| no_relation(&pipeline.view.sql))
}

fn oid_of(relation: &str) -> Result<pgrx::pg_sys::Oid> {
    let arguments = [relation.into()];
    let found = sql::rows(query!(shard.relation), &arguments, |row| sql::required(row.get(1)?))?;
    found.into_iter().next().ok_or_else(|| no_relation(relation))
}

fn no_relation(name: &str) -> Error {
    Error::new(ErrorKind::Internal, format!("relation {name} is not there"))
}

fn keep(pipeline: i32, shards: &[DescribedShard], tables: &[String]) -> Result<()> {
    (1..).zip(shards.iter().zip(tables)).try_for_each(|(number, (shard, table))| {
        shard::insert(pipeline, number, &shard.name.remote, (table, &shard.description))
    })
}

/// What the servers say of the shards that are named, and the foreign tables in which they say so.
fn described(
    pipeline: &str,
    schema: &str,
    generation: i32,
    shards: &[String],
) -> Result<Vec<DescribedShard>> {
    if shards.is_empty() || shards.len() > MOST_SHARDS {
        let message = format!("a pipeline has 1 to {MOST_SHARDS} shards, not {}", shards.len());
        return Err(Error::invalid(message)
            .hint("Name them as shards => ARRAY['server1.docs', 'server2.docs']."));
    }
    let names = shards.iter().map(|name| ShardName::read(name)).collect::<Result<Vec<_>>>()?;
    for (place, name) in names.iter().enumerate() {
        if names[..place].iter().any(|it| it.told() == name.told()) {
            return Err(Error::invalid(format!("shard \"{}\" is named twice", name.told())));
        }
    }
    (1..)
        .zip(names)
        .map(|(number, name)| {
            name.check_server()?;
            let suffix = format!("_rag_shard_{number}_pipeline");
            let table = Names::qualified(schema, pipeline, &suffix, generation);
            let shard = name.described(table, pipeline)?;
            comment::on_same(&shard.description, oid_of("rag.pipeline_as_shard")?)?;
            Ok(shard)
        })
        .collect()
}

/// The key and metadata that the view of a pipeline has, which its shards must have, too.
fn columns_of(pipeline: &Pipeline, shards: &[DescribedShard]) -> Result<ChunkColumns> {
    let found = view::content_columns(pipeline)?;
    let plain = |columns: &[view::ViewColumn]| -> Vec<ChunkColumn> {
        columns.iter().map(|it| (it.bare(), it.sql_type.clone())).collect()
    };
    let columns = ChunkColumns { keys: plain(&found.keys), metadata: plain(&found.metadata) };
    shards.iter().try_for_each(|shard| shard.check_columns(&columns))?;
    Ok(columns)
}

/// Columns that others show; nobody here says more of them.
fn shown(columns: &ChunkColumns) -> Vec<ShownColumn> {
    let keys = columns.keys.iter().map(|(name, _)| ShownColumn::key(quote_identifier(name), name));
    let metadata = columns.metadata.iter();
    let metadata = metadata
        .map(|(name, _)| ShownColumn::metadata(quote_identifier(name), Some(name.as_str())));
    keys.chain(metadata).collect()
}

/// Makes the foreign tables of chunks; their names in SQL.
fn make_chunk_tables(
    pipeline: &str,
    (schema, generation): (&str, i32),
    shards: &[DescribedShard],
    columns: &ChunkColumns,
    dimension: i32,
) -> Result<Vec<String>> {
    let typed = |(name, sql_type): &ChunkColumn| format!("{} {sql_type}", quote_identifier(name));
    let keys: Vec<String> = columns.keys.iter().map(typed).collect();
    let metadata = columns.metadata.iter().map(|column| format!(", {}", typed(column)));
    let metadata: String = metadata.collect();
    let vector = sql::vector_schema()?;
    (1..)
        .zip(shards)
        .map(|(number, shard)| {
            let suffix = format!("_rag_shard_{number}");
            let table = Names::qualified(schema, pipeline, &suffix, generation);
            let text = format!(
                "chunks of pipeline \"{pipeline}\" that are on shard \"{}\"",
                shard.name.told()
            );
            let values = [
                ("table", table.as_str()),
                ("keys", &keys.join(", ")),
                ("metadata", &metadata),
                ("vector", &vector),
                ("dimension", &dimension.to_string()),
                ("server", &quote_identifier(&shard.name.server)),
                ("schema", &quote_literal(&shard.schema)),
                ("view", &quote_literal(&shard.view)),
                ("comment", &quote_literal(text)),
            ];
            sql::execute(&render(query!(shard.chunk_table), &values), &[])?;
            Ok(table)
        })
        .collect()
}

/// Makes the view of all chunks, or has the one that is there show other foreign tables.
fn make_view(view: &str, tables: &[String], columns: &ChunkColumns) -> Result<()> {
    let of_table = |(name, _): &ChunkColumn| format!("c.{}", quote_identifier(name));
    let keys: Vec<String> = columns.keys.iter().map(of_table).collect();
    let metadata = columns.metadata.iter().map(|column| format!(", {}", of_table(column)));
    let metadata: String = metadata.collect();
    let branches = (1..).zip(tables).map(|(number, table)| {
        let values = [
            ("offset", &*shard::offset(number).to_string()),
            ("keys", &keys.join(", ")),
            ("metadata", &metadata),
            ("table", table),
        ];
        render(query!(shard.view_branch), &values)
    });
    let branches: Vec<String> = branches.collect();
    let values = [("view", view), ("branches", &branches.join("\nUNION ALL\n"))];
    sql::execute(&render(query!(shard.view), &values), &[]).map(drop)
}

fn make_content_view(names: &Names, columns: &ChunkColumns) -> Result<()> {
    let of_view = |(name, _): &ChunkColumn| format!("v.{}", quote_identifier(name));
    let keys: Vec<String> = columns.keys.iter().map(of_view).collect();
    let metadata = columns.metadata.iter().map(|column| format!(", {}", of_view(column)));
    let values = [
        ("content_view", names.content_view.as_str()),
        ("keys", &keys.join(", ")),
        ("metadata", &metadata.collect::<String>()),
        ("view", &names.view),
    ];
    sql::execute(&render(query!(shard.content_view), &values), &[]).map(drop)
}
