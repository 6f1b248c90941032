//! In which schema the relations of a pipeline are.
//!
//! Who owns a schema can rename it and make another of its name, with relations of the same names in it. So the relations of
//! a pipeline are only where its owner is one whom the owner of the source must trust anyway.

use pgrx::spi::{SpiHeapTupleData, quote_identifier};

use crate::error::{Error, ErrorKind, Result};
use crate::pg::catalog::pipeline::Pipeline;
use crate::pg::catalog::source::SourceTable;
use crate::pg::server::guc;
use crate::pg::server::role::current_user;
use crate::pg::server::sql::{self, query};

/// The schema of a new pipeline's relations, without quotes: `wanted`, or that of `rag.relations_schema`, or that of
/// the source.
///
/// Fails where the schema is not there, is one of PostgreSQL's or pg_rag's own, belongs to a role that could harm the owner
/// of the source, or lacks a right that is needed.
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

/// The schema of the relations that are to take the place of a pipeline's: the one in which its chunks are now.
///
/// Fails where it is another one than that of the source, as [`of_new`] does.
pub fn of_successor(pipeline: &Pipeline, source: &SourceTable) -> Result<String> {
    let schema = of_chunks(pipeline)?;
    if schema != source.schema {
        check_rights(&schema, &source.owner)?;
    }
    Ok(schema)
}

/// An error where the owner of the source of a pipeline cannot own its relations, which are in another schema: that
/// belongs to a role that could harm the owner, or may not be used.
pub fn check_owner(pipeline: &Pipeline, owner: &str) -> Result<()> {
    let is_elsewhere = sql::rows(
        query!(create.is_elsewhere),
        &[pipeline.source.oid.into(), pipeline.chunk_table.oid.into()],
        |row| sql::required(row.get::<bool>(1)?),
    )?;
    if !is_elsewhere.contains(&true) {
        return Ok(());
    }
    let schema = of_chunks(pipeline)?;
    let about = format!("The relations of pipeline \"{}\" are in it.", pipeline.name);
    let rights = SchemaRights::of(&schema, owner)?;
    rights.check_owner().and_then(|()| rights.check_use()).map_err(|error| error.detail(about))
}

/// The schema in which the chunks of a pipeline are, without quotes.
fn of_chunks(pipeline: &Pipeline) -> Result<String> {
    let table = &pipeline.chunk_table;
    let found = sql::rows(query!(create.schema_of), &[table.oid.into()], |row| {
        sql::required(row.get::<String>(1)?)
    })?;
    found.into_iter().next().ok_or_else(|| {
        let message = format!("the chunks of pipeline \"{}\" are gone", pipeline.name);
        Error::new(ErrorKind::UndefinedObject, message)
            .hint("Drop the pipeline with rag_drop_pipeline, and create it again.")
    })
}

/// An error where the caller may make no relations in a schema for the source's owner, as whom chunks are written, or
/// the schema is no place for that owner's.
fn check_rights(schema: &str, owner: &str) -> Result<()> {
    let rights = SchemaRights::of(schema, owner)?;
    rights.check_caller()?;
    rights.check_owner()?;
    rights.check_use()?;
    rights.check_giving()
}

/// What roles may do in a schema.
struct SchemaRights<'a> {
    schema: &'a str,
    /// The owner of a source.
    owner: &'a str,
    /// The owner of the schema.
    schema_owner: String,
    /// Whether that is the owner of the source or of the database, or a superuser.
    is_trusted: bool,
    /// Whether the caller may make relations in it.
    caller_may_create: bool,
    /// Whether the owner of the source may use it.
    owner_may_use: bool,
    /// Whether what the caller makes in it can be given to the owner of the source.
    may_give: bool,
}

impl SchemaRights<'_> {
    fn of<'a>(schema: &'a str, owner: &'a str) -> Result<SchemaRights<'a>> {
        let arguments = [schema.into(), owner.into()];
        let read = |row: &SpiHeapTupleData<'_>| {
            let flag = |column: usize| sql::required(row.get::<bool>(column)?);
            Ok(SchemaRights {
                schema,
                owner,
                schema_owner: sql::required(row.get(1)?)?,
                is_trusted: flag(2)?,
                caller_may_create: flag(3)?,
                owner_may_use: flag(4)?,
                may_give: flag(5)?,
            })
        };
        let found = sql::rows(query!(create.schema_rights), &arguments, read)?;
        found.into_iter().next().ok_or_else(|| {
            let (message, quoted) =
                (format!("schema \"{schema}\" does not exist"), quote_identifier(schema));
            Error::new(ErrorKind::UndefinedObject, message).hint(format!(
                "CREATE SCHEMA {quoted}, or name another in rag.relations_schema or the option \"relations_schema\"."
            ))
        })
    }

    fn check_caller(&self) -> Result<()> {
        let what = format!("permission denied to create relations in schema \"{}\"", self.schema);
        self.granted(self.caller_may_create, what, "USAGE, CREATE", &current_user())
    }

    fn check_use(&self) -> Result<()> {
        let what = format!(
            "the owner of the source, \"{}\", may not use schema \"{}\"",
            self.owner, self.schema
        );
        self.granted(self.owner_may_use, what, "USAGE", self.owner)
    }

    /// PostgreSQL lets nobody but a superuser give a relation to who may not make one beside it.
    fn check_giving(&self) -> Result<()> {
        let what = format!(
            "the owner of the source, \"{}\", may create nothing in schema \"{}\"",
            self.owner, self.schema
        );
        self.granted(self.may_give, what, "CREATE", self.owner)
    }

    fn granted(&self, is_granted: bool, what: String, right: &str, role: &str) -> Result<()> {
        if is_granted {
            return Ok(());
        }
        let (schema, role) = (quote_identifier(self.schema), quote_identifier(role));
        Err(Error::new(ErrorKind::Forbidden, what)
            .hint(format!("GRANT {right} ON SCHEMA {schema} TO {role}.")))
    }

    fn check_owner(&self) -> Result<()> {
        if self.is_trusted {
            return Ok(());
        }
        let SchemaRights { schema, owner, schema_owner, .. } = self;
        let message = format!(
            "schema \"{schema}\" belongs to role \"{schema_owner}\", which could replace relations of \"{owner}\" in it"
        );
        let (schema, owner) = (quote_identifier(schema), quote_identifier(owner));
        Err(Error::new(ErrorKind::Forbidden, message).hint(format!(
            "ALTER SCHEMA {schema} OWNER TO {owner}, or take a schema of that role, of the owner of the database or of a superuser."
        )))
    }
}
