//! What others than its owner may do with a relation, for one that takes its place.

use pgrx::prelude::*;
use pgrx::spi::quote_identifier;

use super::pipeline::Relation;
use super::view;
use crate::error::Result;
use crate::pg::server::sql::{self, query, render, required};

/// The privileges on a relation and its columns, but for the owner's.
pub struct Grants(Vec<Grant>);

struct Grant {
    privilege: String,
    /// The column, or the whole relation.
    column: Option<String>,
    /// A role, quoted, or PUBLIC.
    grantee: String,
    /// What lets it be passed on, or nothing.
    option: String,
}

impl Grants {
    /// The privileges granted on `relation` and its columns.
    pub fn of(relation: pg_sys::Oid) -> Result<Grants> {
        let statement = query!(grants.list);
        let grants = sql::rows(statement, &[relation.into()], |row| {
            Ok(Grant {
                privilege: required(row.get(1)?)?,
                column: row.get(2)?,
                grantee: required(row.get(3)?)?,
                option: required(row.get(4)?)?,
            })
        });
        grants.map(Grants)
    }

    /// The privileges to read among these, without the right to pass them on.
    pub fn of_readers(self) -> Grants {
        let reading = self.0.into_iter().filter(|grant| grant.privilege == "SELECT");
        Grants(reading.map(|grant| Grant { option: String::new(), ..grant }).collect())
    }

    /// Has them be those on `relation`, as far as it has the columns.
    pub fn give_on(&self, relation: &Relation) -> Result<()> {
        let columns: Vec<String> =
            view::columns(relation.oid)?.into_iter().map(|column| column.name).collect();
        Grants::of(relation.oid)?.revoke_on(relation)?;
        self.0.iter().try_for_each(|grant| grant.give_on(relation, &columns))
    }

    fn revoke_on(&self, relation: &Relation) -> Result<()> {
        let mut grantees: Vec<&str> = self.0.iter().map(|grant| grant.grantee.as_str()).collect();
        grantees.dedup();
        if grantees.is_empty() {
            return Ok(());
        }
        let values = [("relation", relation.sql.as_str()), ("grantees", &grantees.join(", "))];
        sql::execute(&render(query!(grants.revoke_all), &values), &[]).map(drop)
    }
}

impl Grant {
    fn give_on(&self, relation: &Relation, columns: &[String]) -> Result<()> {
        let column = self.column.as_deref().map(quote_identifier);
        if column.as_ref().is_some_and(|column| !columns.contains(column)) {
            return Ok(());
        }
        let column = column.map_or_else(String::new, |column| format!(" ({column})"));
        let values = [
            ("privilege", self.privilege.as_str()),
            ("column", &column),
            ("relation", &relation.sql),
            ("grantee", &self.grantee),
            ("option", &self.option),
        ];
        sql::execute(&render(query!(grants.grant), &values), &[]).map(drop)
    }
}
