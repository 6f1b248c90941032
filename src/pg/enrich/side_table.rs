//! Tables beside the chunks of a pipeline, in which is kept what language models make of them.
//!
//! They belong to the owner of the source and have the row-level security of the chunks: a role
//! that does not see a row sees nothing that was made of it.

use std::ffi::CStr;

use crate::error::Result;
use crate::pg::catalog::pipeline::{Pipeline, Relation};
use crate::pg::catalog::relation::{drop_if_there, give_relation, let_readers_read};
use crate::pg::catalog::source::SourceTable;
use crate::pg::catalog::{context_lines, relation, representations};
use crate::pg::server::sql::{self, query, render};

/// What a table is to be.
pub struct TableForm {
    /// The end of its name.
    pub label: &'static CStr,
    /// The statement that makes it.
    pub definition: &'static str,
    /// The statement that makes its policy.
    pub policy: &'static str,
    /// The statements that say what is in it.
    pub comments: &'static str,
}

/// Makes a table beside the chunks of `pipeline`; its name in SQL. `values` are put into the
/// statements beside `table`, `bare` and `chunk_table`.
pub fn create(pipeline: &Pipeline, form: &TableForm, values: &[(&str, &str)]) -> Result<String> {
    let source = SourceTable::describe(pipeline.source.oid)?;
    let chunks = pipeline.chunk_table.oid;
    let bare = relation::name_beside(chunks, None, form.label);
    let table = relation::in_schema_of(chunks, &bare);
    let own =
        [("table", table.as_str()), ("bare", &bare), ("chunk_table", &pipeline.chunk_table.sql)];
    let all: Vec<(&str, &str)> = own.iter().chain(values).copied().collect();
    sql::execute(&render(form.definition, &all), &[])?;
    sql::execute(&render(form.policy, &all), &[])?;
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
    let represented = representations::of(pipeline.id)?.map(|it| it.relation);
    let situated = context_lines::of(pipeline.id)?.map(|it| it.relation);
    Ok(represented.into_iter().chain(situated).collect())
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
