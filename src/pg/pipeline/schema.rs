//! In which schema the relations of a pipeline are.

use pgrx::spi::quote_identifier;

use crate::error::{Error, ErrorKind, Result};
use crate::pg::catalog::pipeline::Pipeline;
use crate::pg::catalog::source::SourceTable;
use crate::pg::server::guc;
use crate::pg::server::role::current_user;
use crate::pg::server::sql::{self, query};

/// The schema of a new pipeline's relations, without quotes: `wanted`, or that of `rag.relations_schema`, or that of
/// the source.
///
/// Fails where the schema is not there, is one of PostgreSQL's or pg_rag's own, or the caller may make nothing in it.
pub fn of_new(wanted: Option<&str>, source: &SourceTable) -> Result<String> {
    let wanted = wanted.map_or_else(guc::relations_schema, str::to_owned);
    if wanted.is_empty() || wanted == source.schema {
        return Ok(source.schema.clone());
    }
    if wanted.starts_with("pg_") || ["information_schema", "rag"].contains(&wanted.as_str()) {
        let message = format!("the relations of a pipeline cannot be in schema \"{wanted}\"");
        return Err(
            Error::invalid(message).hint("Name a schema of your own, as CREATE SCHEMA makes it.")
        );
    }
    check_rights(&wanted, &source.owner)?;
    Ok(wanted)
}

/// An error where the caller may make no relations in a schema, or the source's owner, as whom chunks are written, may not
/// use it.
fn check_rights(schema: &str, owner: &str) -> Result<()> {
    let arguments = [schema.into(), owner.into()];
    let found = sql::rows(query!(create.may_create_in), &arguments, |row| {
        Ok((sql::required(row.get::<bool>(1)?)?, sql::required(row.get::<bool>(2)?)?))
    })?;
    let quoted = quote_identifier(schema);
    match found.first() {
        Some((true, true)) => Ok(()),
        Some((true, false)) => {
            let message =
                format!("the owner of the source, \"{owner}\", may not use schema \"{schema}\"");
            let role = quote_identifier(owner);
            Err(Error::new(ErrorKind::Forbidden, message)
                .hint(format!("GRANT USAGE ON SCHEMA {quoted} TO {role}.")))
        }
        Some((false, _)) => {
            let message = format!("permission denied to create relations in schema \"{schema}\"");
            let role = quote_identifier(current_user());
            Err(Error::new(ErrorKind::Forbidden, message)
                .hint(format!("GRANT USAGE, CREATE ON SCHEMA {quoted} TO {role}.")))
        }
        None => {
            let message = format!("schema \"{schema}\" does not exist");
            Err(Error::new(ErrorKind::UndefinedObject, message).hint(format!(
                "CREATE SCHEMA {quoted}, or name another in rag.relations_schema or the option \"relations_schema\"."
            )))
        }
    }
}

/// The schema of the relations that are to take the place of a pipeline's: the one in which its chunks are now.
pub fn of_successor(pipeline: &Pipeline) -> Result<String> {
    let table = &pipeline.chunk_table;
    let found = sql::rows(query!(create.schema_of), &[table.oid.into()], |row| {
        sql::required(row.get::<String>(1)?)
    })?;
    found.into_iter().next().ok_or_else(|| {
        let message = format!("the chunks of pipeline \"{}\" are gone", pipeline.name);
        Error::new(ErrorKind::UndefinedObject, message)
    })
}
