//! Documents that a search has found, as relations that one query may name.
//!
//! They stand in the query as a WITH that is added to its tree and not to its text, so nothing that a model writes can
//! close or change it. All that is looked at, the search has returned to the caller.

use pgrx::pg_sys::Oid;
use pgrx::spi::quote_literal;

use super::catalog::statement_name;
use crate::pg::guarded_sql::quoted;
use crate::pg::server::sql::{query, render};
use crate::text_to_sql::found::{FoundRelation, FoundRow};
use crate::text_to_sql::table::TableDocument;

/// Rows of a table that were found as documents.
pub struct FoundRows {
    /// The table.
    pub source: Oid,
    /// The names, bare, of its key columns.
    pub key: Vec<String>,
    /// The rows, the best first.
    pub rows: Vec<FoundRow>,
}

/// A relation for each table of which rows were found and whose key is among what `tables` show.
pub fn relations(tables: &[TableDocument], found: Vec<FoundRows>) -> Vec<FoundRelation> {
    let mut known = tables.to_vec();
    let mut relations = Vec::new();
    for FoundRows { source, key, rows } in found {
        let name = statement_name(source);
        let place = tables.iter().position(|table| table.name == name);
        let relation = place.and_then(|place| FoundRelation::new(&known, place, &key, rows));
        if let Some(mut relation) = relation {
            relation.document.name = quoted(&relation.document.bare);
            for column in &mut relation.document.columns {
                column.name = quoted(&column.bare);
            }
            known.push(relation.document.clone());
            relations.push(relation);
        }
    }
    relations
}

/// The query of nothing whose WITH has the relations; `None` where there are none.
pub fn with_relations(relations: &[FoundRelation]) -> Option<String> {
    let all: Vec<String> = relations.iter().map(common_table).collect();
    let with = render(query!(text_to_sql.found), &[("relations", &all.join(", "))]);
    (!all.is_empty()).then_some(with)
}

fn common_table(relation: &FoundRelation) -> String {
    let document = &relation.document;
    let names: Vec<&str> = document.columns.iter().map(|it| it.name.as_str()).collect();
    let value = |(place, column): (usize, &str)| {
        let place = place.to_string();
        render(query!(text_to_sql.found_value), &[("place", &place), ("type", column)])
    };
    let types = document.columns.iter().map(|it| it.sql_type.as_str());
    let values: Vec<String> = types.enumerate().map(value).collect();
    let parts = [
        ("name", document.name.as_str()),
        ("columns", &names.join(", ")),
        ("values", &values.join(", ")),
        ("rows", &quote_literal(relation.rows().to_string())),
    ];
    render(query!(text_to_sql.found_relation), &parts)
}
