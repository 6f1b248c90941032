//! A table that is to get a pipeline.

use pgrx::datum::DatumWithOid;
use pgrx::prelude::*;

use crate::error::{Error, ErrorKind, Result};
use crate::pg::server::sql::{self, query};

/// What the catalog says of a table.
#[derive(Clone, Debug)]
pub struct SourceTable {
    /// The table's OID.
    pub oid: pg_sys::Oid,
    /// The table's name, without schema or quotes.
    pub name: String,
    /// The name of its schema, without quotes.
    pub schema: String,
    /// The name of its owner, without quotes.
    pub owner: String,
    /// The table's name in SQL, with schema and quotes.
    pub sql: String,
    /// Whether its row-level security holds for its owner too.
    pub forces_row_security: bool,
    /// The table's columns, in order.
    pub columns: Vec<SourceColumn>,
}

/// A column of a source.
#[derive(Clone, Debug)]
pub struct SourceColumn {
    /// The column's name, without quotes.
    pub name: String,
    /// The column's type, as in SQL.
    pub sql_type: String,
    /// The OID of its type.
    pub type_oid: pg_sys::Oid,
    /// Whether it holds text.
    pub is_text: bool,
}

impl SourceTable {
    /// Reads the catalog; an error where the table cannot have a pipeline or is not the caller's.
    pub fn describe(oid: pg_sys::Oid) -> Result<Self> {
        let statement = query!(source.describe);
        let found = sql::rows(statement, &[oid.into()], |row| {
            let text = |column: usize| sql::required(row.get::<String>(column)?);
            let owned: bool = sql::required(row.get(4)?)?;
            let flags: (bool, bool) = (sql::required(row.get(8)?)?, sql::required(row.get(9)?)?);
            Ok((text(1)?, text(2)?, text(3)?, owned, text(5)?, text(6)?, text(7)?, flags))
        })?;
        let Some((name, schema, kind, owned, owner, persistence, sql, flags)) =
            found.into_iter().next()
        else {
            return Err(Error::new(
                ErrorKind::UndefinedObject,
                format!("relation with OID {} does not exist", oid.to_u32()),
            ));
        };
        check_kind(&sql, &kind, &persistence)?;
        check_is_not_of_citus(&sql, oid)?;
        let (forces_row_security, has_children) = flags;
        if has_children && kind == "r" {
            return Err(Error::new(ErrorKind::Unsupported, format!("{sql} has child tables"))
                .detail("The triggers of a table do not fire for its children's rows.")
                .hint("Use a partitioned table, or a pipeline for each of the tables."));
        }
        if !owned {
            return Err(Error::new(ErrorKind::Forbidden, format!("must be owner of table {sql}"))
                .hint("A pipeline adds triggers to its table; its owner creates it."));
        }
        Ok(SourceTable {
            oid,
            name,
            schema,
            owner,
            sql,
            forces_row_security,
            columns: columns(oid)?,
        })
    }

    /// The column called `name`.
    pub fn column(&self, name: &str) -> Option<&SourceColumn> {
        self.columns.iter().find(|column| column.name == name)
    }

    /// The key's columns: those asked for, if they are unique and never NULL, else the primary
    /// key or another unique key.
    pub fn key(&self, wanted: Option<&[String]>) -> Result<Vec<String>> {
        let keys = self.unique_keys()?;
        let Some(wanted) = wanted else {
            return match keys.into_iter().next() {
                Some(key) => Ok(key),
                None => Err(self.no_key()?),
            };
        };
        for name in wanted {
            self.column(name).ok_or_else(|| self.no_column(name))?;
        }
        let same = |key: &&Vec<String>| {
            key.len() == wanted.len() && wanted.iter().all(|name| key.contains(name))
        };
        match keys.iter().find(same) {
            Some(_) => Ok(wanted.to_vec()),
            None => Err(Error::invalid(format!(
                "columns ({}) of {} are not a unique key without NULLs",
                wanted.join(", "),
                self.sql
            ))
            .hint("The key needs a unique index over just these columns, all of them NOT NULL.")),
        }
    }

    /// The error for a column that is not there.
    pub fn no_column(&self, name: &str) -> Error {
        let known: Vec<&str> = self.columns.iter().map(|column| column.name.as_str()).collect();
        Error::new(
            ErrorKind::UndefinedObject,
            format!("column \"{name}\" of {} does not exist", self.sql),
        )
        .hint(format!("Its columns: {}.", known.join(", ")))
    }

    fn unique_keys(&self) -> Result<Vec<Vec<String>>> {
        let statement = query!(source.unique_keys);
        sql::rows(statement, &[self.oid.into()], |row| sql::required(row.get::<Vec<String>>(1)?))
    }

    /// The error for a table without a key.
    fn no_key(&self) -> Result<Error> {
        let table = &self.sql;
        let deferrable = sql::rows(query!(source.deferrable_key), &[self.oid.into()], |row| {
            sql::required(row.get::<String>(1)?)
        })?;
        Ok(match deferrable.first() {
            Some(columns) => {
                let message = format!("the primary key of table {table} is deferrable");
                Error::invalid(message)
                    .detail("Within a transaction, several rows may have the same key.")
                    .hint(format!("Add a unique index that is not: CREATE UNIQUE INDEX ON {table} ({columns})."))
            }
            None => Error::invalid(format!("table {table} has no primary key")).hint(format!(
                "Add one, for instance: ALTER TABLE {table} ADD COLUMN id bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY."
            )),
        })
    }
}

fn check_kind(sql: &str, kind: &str, persistence: &str) -> Result<()> {
    let what = match (kind, persistence) {
        ("r" | "p", "p" | "u") => return Ok(()),
        ("r" | "p", _) => "a temporary table",
        ("v", _) => "a view",
        ("m", _) => "a materialized view",
        ("f", _) => "a foreign table",
        _ => "not a table",
    };
    Err(Error::new(ErrorKind::WrongObjectType, format!("{sql} is {what}"))
        .hint("A pipeline's source is an ordinary or partitioned table."))
}

/// The rows of a table that Citus manages are in shards, tables of their own. Citus accepts triggers for some of them, and
/// they never fire, or fire for a shard: changes would be lost, or fail.
fn check_is_not_of_citus(sql: &str, oid: pg_sys::Oid) -> Result<()> {
    let holds = |statement, arguments: &[DatumWithOid<'_>]| -> Result<bool> {
        let found: Vec<bool> = sql::rows(statement, arguments, |row| sql::required(row.get(1)?))?;
        Ok(found == [true])
    };
    if !holds(query!(source.has_citus), &[])? || !holds(query!(source.is_of_citus), &[oid.into()])?
    {
        return Ok(());
    }
    Err(Error::new(ErrorKind::Unsupported, format!("{sql} is managed by Citus"))
        .detail("Its rows are in shards, whose changes fire no trigger of the table.")
        .hint("Give it a column of vectors and the indexes rag_hnsw and rag_bm25, which Citus makes for each shard, or call undistribute_table."))
}

fn columns(oid: pg_sys::Oid) -> Result<Vec<SourceColumn>> {
    sql::rows(query!(source.columns), &[oid.into()], |row| {
        let category: String = sql::required(row.get(3)?)?;
        Ok(SourceColumn {
            name: sql::required(row.get(1)?)?,
            sql_type: sql::required(row.get(2)?)?,
            type_oid: sql::required(row.get(4)?)?,
            is_text: category == "S",
        })
    })
}
