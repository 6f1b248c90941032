//! Tables beside the chunks of a pipeline, in which is kept what language models make of them.
//!
//! They belong to the owner of the source and have the row-level security of the chunks: a role sees
//! what was made of chunks if there is none among them that it does not see.

use std::ffi::CStr;

use crate::error::Result;
use crate::pg::catalog::pipeline::{Pipeline, Relation};
use crate::pg::catalog::relation::{drop_if_there, give_relation, let_readers_read};
use crate::pg::catalog::source::SourceTable;
use crate::pg::catalog::{derivation, relation};
use crate::pg::server::sql::{self, query, render};

/// What a table is to be.
pub struct TableForm {
    /// The end of its name.
    pub label: &'static CStr,
    /// The statement that makes it.
    pub definition: &'static str,
    /// The keys of the chunks that a row was made of, its leaves, as an expression over its columns;
    /// and the column of the chunks that has such a key.
    pub leaves: (&'static str, &'static str),
    /// The statements that say what is in it.
    pub comments: &'static str,
}

/// Makes a table beside the chunks of `pipeline`; its name in SQL. `values` are put into the
/// statements beside `table` and `chunk_table`.
pub fn create(pipeline: &Pipeline, form: &TableForm, values: &[(&str, &str)]) -> Result<String> {
    let source = SourceTable::describe(pipeline.source.oid)?;
    let chunks = pipeline.chunk_table.oid;
    let bare = relation::name_beside(chunks, None, form.label);
    let table = relation::in_schema_of(chunks, &bare);
    let own = [("table", table.as_str()), ("chunk_table", &pipeline.chunk_table.sql)];
    let all: Vec<(&str, &str)> = own.iter().chain(values).copied().collect();
    sql::execute(&render(form.definition, &all), &[])?;
    let (leaves, leaf_key) = form.leaves;
    let policy = query!(derivation.create_policy);
    sql::execute(
        &render(policy, &[own, [("leaves", leaves), ("leaf_key", leaf_key)]].concat()),
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

/// The tables of a pipeline. To be asked before the pipeline is deleted.
pub fn of(pipeline: &Pipeline) -> Result<Vec<Relation>> {
    Ok(derivation::all(pipeline.id)?.into_iter().map(|it| it.relation).collect())
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
