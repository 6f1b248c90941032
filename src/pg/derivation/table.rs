//! Tables beside the chunks of a pipeline, in which is kept what is made of them.
//!
//! They belong to the owner of the source and have the row-level security of the chunks: a role sees
//! what was made of chunks if there is none among them that it does not see.

use serde_json::Value as Json;

use crate::error::{Error, ErrorKind, Result};
use crate::pg::catalog::derivation::DerivationKind;
use crate::pg::catalog::pipeline::{self, Pipeline, Relation};
use crate::pg::catalog::relation::{drop_if_there, give_relation, let_readers_read};
use crate::pg::catalog::source::SourceTable;
use crate::pg::catalog::{derivation, locking, model, relation};
use crate::pg::changes::noted;
use crate::pg::server::sql::{self, query, render};

/// What a table is to be.
pub struct TableForm {
    /// What is kept in it, after which it is called.
    pub kind: DerivationKind,
    /// The statement that makes it.
    pub definition: &'static str,
    /// The keys of the chunks that a row was made of, its leaves, as an expression over its columns;
    /// with the placeholders of the definition; and the column of the chunks that has such a key.
    pub leaves: (&'static str, &'static str),
    /// The statements that say what is in it.
    pub comments: &'static str,
}

/// Makes a table beside the chunks of `pipeline`; its name in SQL. `values` are put into the
/// statements beside `table` and `chunk_table`.
pub fn create(pipeline: &Pipeline, form: &TableForm, values: &[(&str, &str)]) -> Result<String> {
    let source = SourceTable::describe(pipeline.source.oid)?;
    let chunks = pipeline.chunk_table.oid;
    let bare = relation::name_beside(chunks, None, form.kind.table_label());
    let table = relation::in_schema_of(chunks, &bare);
    let own = [("table", table.as_str()), ("chunk_table", &pipeline.chunk_table.sql)];
    let all: Vec<(&str, &str)> = own.iter().chain(values).copied().collect();
    sql::execute(&render(form.definition, &all), &[])?;
    let (leaves, leaf_key) = (render(form.leaves.0, &all), form.leaves.1);
    let policy = query!(derivation.create_policy);
    sql::execute(
        &render(policy, &[own, [("leaves", leaves.as_str()), ("leaf_key", leaf_key)]].concat()),
        &[],
    )?;
    sql::execute(&render(form.comments, &all), &[])?;
    let secured = [("chunk_table", table.as_str())];
    sql::execute(&render(query!(relation.enable_row_security), &secured), &[])?;
    if source.forces_row_security {
        let force = query!(relation.force_row_security);
        sql::execute(&render(force, &secured), &[])?;
    }
    give_relation("TABLE", &table, &pgrx::spi::quote_identifier(&source.owner))?;
    let_readers_read(source.oid, &table)?;
    Ok(table)
}

/// Makes a table whose rows have vectors, and are known by the `content_hash` of chunks, and keeps what is made there.
pub fn create_embedded(pipeline: &Pipeline, form: &TableForm, option: &Json) -> Result<()> {
    let model = model::find(Some(&pipeline.model))?;
    let (vector, dimension) = (sql::vector_schema()?, model.dimension.to_string());
    let values = [("vector", vector.as_str()), ("dimension", dimension.as_str())];
    let table = create(pipeline, form, &values)?;
    index_hashes(&pipeline.chunk_table)?;
    derivation::set(pipeline.id, form.kind, option, &table)?;
    let made = derivation::of(pipeline.id, form.kind)?.ok_or_else(|| {
        Error::new(ErrorKind::Internal, format!("the table {table} is not there"))
    })?;
    relation::index_vectors(&made.relation, "")
}

/// Makes an index of a chunk table by the hashes of its texts, unless it has one.
pub fn index_hashes(chunks: &Relation) -> Result<()> {
    let found = sql::rows(query!(derivation.has_hash_index), &[chunks.oid.into()], |row| {
        sql::required(row.get::<i32>(1)?)
    })?;
    if !found.is_empty() {
        return Ok(());
    }
    let name = relation::name_beside(chunks.oid, Some(c"content_hash"), c"idx");
    let values = [("name", name.as_str()), ("chunk_table", &chunks.sql)];
    sql::execute(&render(query!(derivation.create_hash_index), &values), &[]).map(drop)
}

/// A pipeline and its successor, if it has one.
pub fn generations(pipeline: &Pipeline) -> Result<Vec<Pipeline>> {
    Ok([pipeline.clone()].into_iter().chain(pipeline::successor(pipeline.id)?).collect())
}

/// Locks a pipeline and its successor with all that is made of them before an alteration, so that what is made of these kinds,
/// or the successor if another is to take its place, can be dropped; nothing where nothing of the kind is there. It is all of
/// it at once, and not what is dropped alone: whoever has one of the tables may wait for another, and would never give it
/// back while an alteration that has the one waits for the other.
pub fn lock_before(
    pipeline: &Pipeline,
    dropped: &[DerivationKind],
    replaces_successor: bool,
) -> Result<()> {
    let replaced = match replaces_successor {
        true => pipeline::successor(pipeline.id)?,
        false => None,
    };
    // Before its relations, as whoever drops a pipeline does it.
    let replaced = replaced.map(|one| pipeline::lock(one.id)).transpose()?.flatten();
    let mut is_dropped = replaced.is_some();
    let mut all = Vec::new();
    for one in generations(pipeline)? {
        let made = derivation::all(one.id)?;
        is_dropped |= made.iter().any(|it| dropped.contains(&it.kind));
        all.push((one, made.into_iter().map(|it| it.relation).collect()));
    }
    match is_dropped {
        true => locking::lock_for_drop(&all),
        false => Ok(()),
    }
}

/// Has `option` hold for what is made of one kind for a pipeline of the caller, and for its successor: made as it says, by
/// `create` where there is nothing yet, or, where it is `None`, not any more.
pub fn alter(
    pipeline: &Pipeline,
    kind: DerivationKind,
    option: Option<&Json>,
    create: impl Fn(&Pipeline, &Json) -> Result<()>,
) -> Result<()> {
    for one in generations(pipeline)? {
        match (derivation::of(one.id, kind)?, option) {
            (None, None) => {}
            (Some(current), None) => forget(&one, kind, current.relation)?,
            (Some(current), Some(option)) => {
                derivation::set(one.id, kind, option, &current.relation.sql)?;
            }
            (None, Some(option)) => create(&one, option)?,
        }
    }
    noted::wake_at_commit();
    Ok(())
}

/// Drops what was made of one kind. A question locks the chunks before it, so all is locked together first, unless
/// [`lock_before`] has done it already.
pub fn forget(pipeline: &Pipeline, kind: DerivationKind, table: Relation) -> Result<()> {
    locking::lock_for_drop(&[(pipeline.clone(), vec![table.clone()])])?;
    derivation::remove(pipeline.id, kind)?;
    drop_table(&table)
}

/// The tables of a pipeline, those before the ones that they are made of, so that they can be dropped in this order. To
/// be asked before the pipeline is deleted.
pub fn of(pipeline: &Pipeline) -> Result<Vec<Relation>> {
    Ok(derivation::all(pipeline.id)?.into_iter().rev().map(|it| it.relation).collect())
}

/// Drops a table.
pub fn drop_table(table: &Relation) -> Result<()> {
    let template = query!(relation.drop_table);
    drop_if_there(template, table, &[("chunk_table", &table.sql)])
}

/// Gives the tables of a pipeline to another owner, whose name is quoted.
pub fn give_to(pipeline: &Pipeline, owner: &str) -> Result<()> {
    of(pipeline)?.iter().try_for_each(|table| give_relation("TABLE", &table.sql, owner))
}
