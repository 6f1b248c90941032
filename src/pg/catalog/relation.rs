//! Relations of pipelines: their names, owners and readers.

use std::ffi::CStr;

use pgrx::pg_sys;

use super::pipeline::Relation;
use crate::error::Result;
use crate::pg::server::sql::{self, query, render};

/// Indexes the vectors of a table, with `filters`, columns to filter by, each after a comma.
pub fn index_vectors(table: &Relation, filters: &str) -> Result<()> {
    let values = [
        ("chunk_table", table.sql.as_str()),
        ("opclass_schema", &sql::opclass_schema()?),
        ("name", &name_beside(table.oid, Some(c"embedding"), c"idx")),
        ("filters", filters),
    ];
    let index = render(query!(relation.create_vector_index), &values);
    sql::execute(&index, &[]).map(drop)
}

/// `name`, which is quoted, in the schema of a table.
pub fn in_schema_of(table: pg_sys::Oid, name: &str) -> String {
    // SAFETY: look-ups by OID, which give names of this memory context; the table exists.
    let schema =
        unsafe { CStr::from_ptr(pg_sys::get_namespace_name(pg_sys::get_rel_namespace(table))) };
    format!("{}.{name}", pgrx::spi::quote_identifier(schema.to_string_lossy()))
}

/// A name, quoted, for a new index over a column of a table, or for a table beside it, as
/// PostgreSQL would choose it.
pub fn name_beside(table: pg_sys::Oid, column: Option<&CStr>, label: &CStr) -> String {
    // SAFETY: look-ups by OID, which give names of this memory context; the table exists.
    unsafe {
        let name = pg_sys::ChooseRelationName(
            pg_sys::get_rel_name(table),
            column.map_or(std::ptr::null(), CStr::as_ptr),
            label.as_ptr(),
            pg_sys::get_rel_namespace(table),
            false,
        );
        pgrx::spi::quote_identifier(CStr::from_ptr(name).to_string_lossy())
    }
}

/// Lets roles that may read the source read `relations`, which are made of it; PUBLIC gets nothing.
pub fn let_readers_read(source: pg_sys::Oid, relations: &str) -> Result<()> {
    let statement = query!(relation.readers);
    let readers =
        sql::rows(statement, &[source.into()], |row| sql::required(row.get::<String>(1)?))?;
    if readers.is_empty() {
        return Ok(());
    }
    let values = [("relations", relations), ("readers", &readers.join(", "))];
    let statement = render(query!(relation.grant_select), &values);
    sql::execute(&statement, &[]).map(drop)
}

/// Gives a relation to another owner, whose name is quoted.
pub fn give_relation(kind: &str, relation: &str, owner: &str) -> Result<()> {
    let values = [("kind", kind), ("relation", relation), ("owner", owner)];
    let statement = render(query!(relation.change_owner), &values);
    sql::execute(&statement, &[]).map(drop)
}

/// A relation that was dropped has no name any more, only its number.
pub fn drop_if_there(template: &str, relation: &Relation, values: &[(&str, &str)]) -> Result<()> {
    let statement = query!(relation.exists);
    let found = sql::rows(statement, &[relation.oid.into()], |_| Ok(()))?;
    match found.is_empty() {
        true => Ok(()),
        false => sql::execute(&render(template, values), &[]).map(drop),
    }
}
