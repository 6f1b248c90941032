//! What of the catalog the caller may read, as documents for a language model.
//!
//! It is read for each question anew, with the caller's rights. A copy would have to follow privileges, memberships
//! and comments, none of which an event trigger or an invalidation tells of in full; and a hundred tables are
//! read in some milliseconds, which is nothing beside a call of a language model.

use std::collections::HashMap;
use std::ffi::CStr;

use pgrx::pg_sys::Oid;
use pgrx::prelude::*;

use super::KnownNames;
use crate::error::{Error, ErrorKind, Result};
use crate::guarded_sql::SqlOrigin;
use crate::pg::guarded_sql::{GuardScope, quoted, relation_name};
use crate::pg::server::role::{LocalSettings, by_policies};
use crate::pg::server::sql::{self, query, required};
use crate::text_to_sql::table::{ForeignKey, TableColumn, TableDocument};

/// Most relations that are read.
const MOST_RELATIONS: usize = 2000;

/// Places of relations and of their columns, by OID and by number.
#[derive(Default)]
struct Places {
    tables: HashMap<Oid, usize>,
    columns: HashMap<(Oid, i32), usize>,
}

/// A relation that the caller may read.
struct ReadableRelation {
    oid: Oid,
    kind: u8,
    bare: String,
    comment: Option<String>,
}

/// The relations that the caller may read within `scope`, by their names; with frequent values of text columns where
/// these are `wanted`.
///
/// Fails where there are more than a prompt could be chosen of.
pub fn tables(scope: &GuardScope, wanted: bool) -> Result<Vec<TableDocument>> {
    let mut found = within_search_path(|| relations(scope))?;
    found.retain(|it| scope.refusal(it.oid, it.kind, SqlOrigin::Statement).is_none());
    if found.len() > MOST_RELATIONS {
        let message = format!("more than {MOST_RELATIONS} relations could be read");
        return Err(Error::new(ErrorKind::DocumentLimit, message)
            .hint("Name those that matter in relations, or their schemas in guard.schemas."));
    }
    let mut named: Vec<(String, ReadableRelation)> =
        found.into_iter().map(|it| (statement_name(it.oid), it)).collect();
    named.sort_by(|a, b| a.0.cmp(&b.0));
    let oids: Vec<Oid> = named.iter().map(|(_, it)| it.oid).collect();
    let mut places = Places::default();
    let mut tables: Vec<TableDocument> = Vec::with_capacity(named.len());
    for (name, it) in named {
        places.tables.insert(it.oid, tables.len());
        let is_view = it.kind == pg_sys::RELKIND_VIEW || it.kind == pg_sys::RELKIND_MATVIEW;
        let ReadableRelation { bare, comment, .. } = it;
        tables.push(TableDocument { name, bare, is_view, comment, ..TableDocument::default() });
    }
    within_search_path(|| {
        add_columns(&oids, &mut places, &mut tables)?;
        add_keys(&oids, &places, &mut tables)?;
        if wanted { add_values(&oids, &places, &mut tables) } else { Ok(()) }
    })?;
    Ok(tables)
}

/// Names of all tables and columns, in lower case.
pub fn names(tables: &[TableDocument]) -> KnownNames {
    let of_table = |table: &TableDocument| {
        let columns = table.columns.iter().map(|column| column.bare.to_lowercase());
        columns.chain([table.bare.to_lowercase(), table.name.to_lowercase()]).collect::<Vec<_>>()
    };
    tables.iter().flat_map(of_table).collect()
}

/// Whether there is a relation of this OID.
pub fn exists(relation: Oid) -> bool {
    // SAFETY: a look-up by OID; NULL where it is gone.
    unsafe { !pg_sys::get_rel_name(relation).is_null() }
}

/// How a statement of the caller names a relation.
pub fn statement_name(relation: Oid) -> String {
    // SAFETY: look-ups by OID; the name is NULL where the relation is gone.
    unsafe {
        let name = pg_sys::get_rel_name(relation);
        match !name.is_null() && pg_sys::RelationIsVisible(relation) {
            true => quoted(&CStr::from_ptr(name).to_string_lossy()),
            false => relation_name(relation),
        }
    }
}

/// Does `work`, whose statements name nothing that the caller's search path decides.
pub fn within_search_path<T>(work: impl FnOnce() -> Result<T>) -> Result<T> {
    let mut settings = LocalSettings::new();
    settings.set(c"search_path", c"pg_catalog, pg_temp");
    work()
}

fn relations(scope: &GuardScope) -> Result<Vec<ReadableRelation>> {
    let has_lists = scope.lists().is_some();
    let (tables, schemas) = scope.lists().unwrap_or_default();
    let most = MOST_RELATIONS as i64 + 1;
    let arguments = [tables.into(), schemas.into(), has_lists.into(), most.into()];
    by_policies(|| {
        sql::rows(query!(text_to_sql.relations), &arguments, |row| {
            let kind = required(row.get::<String>(2)?)?;
            Ok(ReadableRelation {
                oid: required(row.get(1)?)?,
                kind: kind.bytes().next().unwrap_or_default(),
                bare: required(row.get(3)?)?,
                comment: row.get(4)?,
            })
        })
    })
}

fn add_columns(relations: &[Oid], places: &mut Places, tables: &mut [TableDocument]) -> Result<()> {
    let rows = sql::rows(query!(text_to_sql.columns), &[relations.to_vec().into()], |row| {
        let bare = required(row.get::<String>(3)?)?;
        let labels = row.get::<Vec<Option<String>>>(6)?.unwrap_or_default();
        let column = TableColumn {
            name: String::new(),
            bare,
            sql_type: required(row.get(4)?)?,
            comment: row.get(5)?,
            labels: labels.into_iter().flatten().collect(),
            values: Vec::new(),
        };
        Ok((required(row.get::<Oid>(1)?)?, required(row.get::<i32>(2)?)?, column))
    })?;
    for (oid, number, column) in rows {
        check_for_interrupts!();
        let Some(table) = places.tables.get(&oid).and_then(|it| tables.get_mut(*it)) else {
            continue;
        };
        places.columns.insert((oid, number), table.columns.len());
        table.columns.push(TableColumn { name: quoted(&column.bare), ..column });
    }
    Ok(())
}

/// A primary key has no relation that it refers to.
type KeyRow = (Oid, Vec<i32>, Oid, Vec<i32>);

fn add_keys(relations: &[Oid], places: &Places, tables: &mut [TableDocument]) -> Result<()> {
    let numbers = |list: Option<Vec<Option<i32>>>| list.unwrap_or_default().into_iter().flatten();
    let rows: Vec<KeyRow> =
        sql::rows(query!(text_to_sql.keys), &[relations.to_vec().into()], |row| {
            let (own, other) = (numbers(row.get(2)?).collect(), numbers(row.get(4)?).collect());
            let to = row.get::<Oid>(3)?.unwrap_or(pg_sys::InvalidOid);
            Ok((required(row.get(1)?)?, own, to, other))
        })?;
    for (oid, own, other, referenced) in rows {
        // A key of a column that the caller may not read is not told of.
        let Some(columns) = places.of(oid, &own) else { continue };
        let Some(table) = places.tables.get(&oid).and_then(|it| tables.get_mut(*it)) else {
            continue;
        };
        match (places.tables.get(&other), places.of(other, &referenced)) {
            (Some(to), Some(referenced)) => {
                table.foreign_keys.push(ForeignKey { columns, table: *to, referenced });
            }
            _ if referenced.is_empty() => table.primary_key = columns,
            _ => {}
        }
    }
    Ok(())
}

fn add_values(relations: &[Oid], places: &Places, tables: &mut [TableDocument]) -> Result<()> {
    let names: Vec<String> = tables.iter().map(|table| table.bare.clone()).collect();
    let arguments = [relations.to_vec().into(), names.into()];
    let rows = sql::rows(query!(text_to_sql.values), &arguments, |row| {
        let values = row.get::<Vec<Option<String>>>(3)?.unwrap_or_default();
        let values: Vec<String> = values.into_iter().flatten().collect();
        Ok((required(row.get::<Oid>(1)?)?, required(row.get::<String>(2)?)?, values))
    })?;
    for (oid, name, values) in rows {
        let Some(table) = places.tables.get(&oid).and_then(|it| tables.get_mut(*it)) else {
            continue;
        };
        if let Some(column) = table.columns.iter_mut().find(|column| column.bare == name) {
            column.values = values;
        }
    }
    Ok(())
}

impl Places {
    /// Places of the columns of these numbers; `None` where one is not among those that may be read.
    fn of(&self, relation: Oid, numbers: &[i32]) -> Option<Vec<usize>> {
        numbers.iter().map(|number| self.columns.get(&(relation, *number)).copied()).collect()
    }
}

#[cfg(feature = "pg_test")]
mod tests {
    use super::*;

    #[pg_extern]
    fn frequent_values_are_looked_up_table_by_table() {
        sql::execute("CREATE TABLE ships (id integer, flag text)", &[]).expect("a table");
        let table = "SELECT 'ships'::regclass::oid";
        let table = sql::rows(table, &[], |row| required(row.get::<Oid>(1)?)).expect("its OID");
        let plan = within_search_path(|| {
            let statement = format!("EXPLAIN (COSTS OFF) {}", query!(text_to_sql.values));
            let arguments = [table.into(), vec!["ships".to_owned()].into()];
            sql::rows(&statement, &arguments, |row| required(row.get::<String>(1)?))
        });
        let plan = plan.expect("a plan").join("\n");
        assert!(plan.contains("relname = ANY") || plan.contains("relname = 'ships'"), "{plan}");
    }
}
