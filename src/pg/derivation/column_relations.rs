//! Relations that columns say: what a row, or what one of its columns names, is to the value of another.
//!
//! They are made by whoever stores the chunks of a row, in the same transaction, of the metadata that is kept with the
//! chunks: so a change of a column is noticed as one of metadata is, and a renamed or dropped column is nothing new. They
//! are kept with the first chunk of the row, and go with it by a foreign key. A column that refers to another table says
//! which row of that table, and its name only where the option asks for that: it is read with the rights of the owner of
//! the source, and whoever sees the row that refers to it sees the name.

use std::cell::RefCell;
use std::collections::{BTreeMap, BTreeSet};

use pgrx::prelude::*;
use pgrx::spi::quote_identifier;
use serde_json::{Value as Json, json};

use super::table::{self, TableForm};
use crate::error::{Error, ErrorKind, Result};
use crate::graph::name::LONGEST;
use crate::graph::paths::NamedEntity;
use crate::graph::relations::{ColumnRelations, LONGEST_VALUE, MOST_ELEMENTS, named};
use crate::pg::catalog::derivation::{self, DerivationKind};
use crate::pg::catalog::operator;
use crate::pg::catalog::pipeline::{Pipeline, Relation};
use crate::pg::catalog::view::{self, ContentColumns, ViewColumn, content_columns};
use crate::pg::server::sql::{self, query, render};

const KIND: DerivationKind = DerivationKind::ColumnRelations;

const FORM: TableForm = TableForm {
    label: c"relations",
    definition: query!(column_relations.create_table),
    leaves: ("ARRAY[chunk_id]", "chunk_id"),
    comments: query!(column_relations.comment_table),
};

/// Has a pipeline, which has a graph, keep what `wanted` says, or nothing of the kind any more.
pub fn set(pipeline: &Pipeline, wanted: Option<&ColumnRelations>) -> Result<()> {
    match (derivation::of(pipeline.id, KIND)?, wanted) {
        (None, None) => Ok(()),
        (Some(current), None) => table::forget(pipeline, KIND, current.relation),
        (Some(current), Some(wanted)) => {
            check(pipeline, wanted)?;
            derivation::set(pipeline.id, KIND, &json!(wanted), &current.relation.sql)
        }
        (None, Some(wanted)) => {
            check(pipeline, wanted)?;
            create(pipeline, wanted)
        }
    }
}

/// What columns of a pipeline say, with the names that its source's columns have by now.
pub fn by_now(pipeline: &Pipeline, relations: &ColumnRelations) -> Result<ColumnRelations> {
    let columns = content_columns(pipeline)?.metadata;
    let in_source = view::metadata_names(pipeline)?;
    let name = |known: &str| {
        let at = columns.iter().position(|column| column.bare() == known);
        at.and_then(|at| in_source.get(at).cloned()).unwrap_or_else(|| known.to_owned())
    };
    Ok(relations.renamed(name))
}

/// The options as the catalog has them.
fn stored(options: Json) -> Result<ColumnRelations> {
    serde_json::from_value(options).map_err(|error| {
        let message = format!("options of relations cannot be read: {error}");
        Error::new(ErrorKind::DataCorrupted, message)
    })
}

/// Has a pipeline, which keeps nothing of the kind yet, keep what `wanted` says. A column that is none of its metadata says
/// nothing.
pub fn create(pipeline: &Pipeline, wanted: &ColumnRelations) -> Result<()> {
    let table = table::create(pipeline, &FORM, &[])?;
    let values = [("table", table.as_str())];
    sql::execute(&render(query!(column_relations.create_indexes), &values), &[])?;
    derivation::set(pipeline.id, KIND, &json!(wanted), &table)
}

/// An error that names the first column of which nothing can be said.
fn check(pipeline: &Pipeline, wanted: &ColumnRelations) -> Result<()> {
    let columns = SayingColumns::of(pipeline, &content_columns(pipeline)?)?;
    for name in wanted.columns() {
        columns.find(name).ok_or_else(|| no_metadata(pipeline, name))?;
    }
    let subjects = wanted.relations.values().filter_map(|it| it.subject.as_deref());
    for column in subjects.filter_map(|name| columns.find(name)) {
        if column.is_array() {
            let message = format!("column {} is an array and names no subject", column.here.name);
            return Err(Error::new(ErrorKind::WrongObjectType, message)
                .hint("Let it be the object: each of its elements is one."));
        }
    }
    for (name, naming) in &wanted.names {
        columns.find(name).map_or(Ok(()), |it| it.check_naming(naming))?;
    }
    Ok(())
}

fn no_metadata(pipeline: &Pipeline, column: &str) -> Error {
    let message = format!(
        "column \"{column}\" of \"graph\" is no metadata of pipeline \"{}\"",
        pipeline.name
    );
    Error::new(ErrorKind::UndefinedObject, message)
        .hint("Relations are made of metadata: name the column in the argument metadata, too.")
}

/// A column that refers to another table by itself.
#[derive(Clone, Debug)]
struct NamingKey {
    /// The other table, as SQL, and its column.
    table: String,
    key: String,
    /// The operator that compares both, that of the other table first.
    equal: pg_sys::Oid,
    /// The columns of the other table that may be read.
    readable: Vec<String>,
    /// OID of the other table.
    oid: pg_sys::Oid,
    /// How its own rows are told from those of tables that inherit from it, as SQL.
    only: String,
}

/// A metadata column of a pipeline, and to what its source's column refers.
#[derive(Clone, Debug)]
struct SayingColumn {
    here: ViewColumn,
    refers_to: Option<NamingKey>,
}

/// The metadata columns of a pipeline.
struct SayingColumns(Vec<SayingColumn>);

impl SayingColumns {
    fn of(pipeline: &Pipeline, columns: &ContentColumns) -> Result<SayingColumns> {
        let keys = foreign_keys(pipeline.source.oid)?;
        let in_source = view::metadata_names(pipeline)?;
        let column = |(here, name): (&ViewColumn, &String)| SayingColumn {
            here: here.clone(),
            refers_to: keys.get(name).cloned(),
        };
        Ok(SayingColumns(columns.metadata.iter().zip(&in_source).map(column).collect()))
    }

    /// The column of this name, which is not quoted.
    fn find(&self, name: &str) -> Option<&SayingColumn> {
        self.0.iter().find(|column| column.here.bare() == name)
    }
}

impl SayingColumn {
    fn is_array(&self) -> bool {
        self.here.sql_type.ends_with("[]")
    }

    /// An error where the rows to which it refers cannot be called by the column `naming`.
    fn check_naming(&self, naming: &str) -> Result<()> {
        let name = &self.here.name;
        let Some(key) = &self.refers_to else {
            let message = format!("column {name} of \"graph.names\" refers to no other table");
            return Err(Error::invalid(message)
                .hint("Only a foreign key of one column has names in another table."));
        };
        match key.readable.iter().any(|it| it == naming) {
            true => Ok(()),
            false => {
                let message = format!("{} has no column \"{naming}\" that you may read", key.table);
                let known = key.readable.join(", ");
                Err(Error::new(ErrorKind::UndefinedObject, message)
                    .hint(format!("Columns that you may read: {known}.")))
            }
        }
    }

    /// What it says of a row, as SQL: of a row to which it refers that is its name where there is a `naming` column, or else
    /// the name of its table and its key.
    fn value(&self, naming: Option<&str>) -> String {
        let column = self.here.name.as_str();
        let value = short(&format!("c.{column}"), LONGEST_VALUE);
        let Some(key) = &self.refers_to else { return value };
        // NULL refers to no row.
        let row = called_by(key.oid, &format!("nullif({value}, '')"));
        let Some(naming) = naming else { return row };
        let is_readable = |name: &str| key.readable.iter().any(|it| it == name);
        if !(is_readable(naming) && is_readable(&key.key)) {
            warn_once(key, naming);
            return row;
        }
        let name = short(&format!("t.{}", quote_identifier(naming)), LONGEST);
        let values = [
            ("name", name.as_str()),
            ("table", &key.table),
            ("only", &key.only),
            ("key", &*quote_identifier(&key.key)),
            ("equal", &operator::named(key.equal, "=")),
            ("column", column),
            ("row", &row),
        ];
        render(query!(column_relations.named), &values)
    }
}

/// A value as a text if it has no more than `most` bytes, as SQL.
fn short(value: &str, most: usize) -> String {
    let most = most.to_string();
    render(query!(column_relations.short), &[("value", value), ("most_bytes", &most)])
}

/// What a row of a table is called by its key, as SQL.
fn called_by(table: pg_sys::Oid, key: &str) -> String {
    let table = table.to_u32().to_string();
    render(query!(column_relations.row), &[("table", &table), ("key", key)])
}

/// Says once in a session that rows are called by their keys, since the column that names them cannot be read any more.
fn warn_once(key: &NamingKey, naming: &str) {
    thread_local! {
        static WARNED: RefCell<BTreeSet<(u32, String)>> = const { RefCell::new(BTreeSet::new()) };
    }
    let is_new =
        |all: &RefCell<BTreeSet<_>>| all.borrow_mut().insert((key.oid.to_u32(), naming.to_owned()));
    if WARNED.with(is_new) {
        warning!(
            "{} has no column \"{naming}\" that may be read: relations call its rows by their keys",
            key.table
        );
    }
}

/// By name, the columns of a table that refer to another one by themselves.
fn foreign_keys(table: pg_sys::Oid) -> Result<BTreeMap<String, NamingKey>> {
    let found = sql::rows(query!(column_relations.foreign_keys), &[table.into()], |row| {
        let key = NamingKey {
            table: sql::required(row.get(2)?)?,
            key: sql::required(row.get(3)?)?,
            equal: sql::required(row.get(4)?)?,
            readable: sql::required(row.get(5)?)?,
            oid: sql::required(row.get(6)?)?,
            only: sql::required(row.get(7)?)?,
        };
        Ok((sql::required(row.get(1)?)?, key))
    })?;
    Ok(found.into_iter().collect())
}

/// What a column says of a row: the row's first chunk, the number of the relation from 1, subject and object as they are
/// written; no number and neither of the two where nothing is said.
pub type SaidByRow = (i64, Option<i32>, Option<String>, Option<String>);

/// A relation of a row's first chunk.
#[derive(Clone, Debug, PartialEq, Eq)]
struct KeptRelation<'a> {
    chunk_id: i64,
    subject: NamedEntity,
    predicate: &'a str,
    object: NamedEntity,
}

/// Keeps what the columns of a pipeline's rows say. To be used as the owner of the chunks.
pub struct ColumnRelationStore {
    relation: Relation,
    /// Predicates and what says them, as SQL, in one order.
    predicates: Vec<String>,
    said: Vec<String>,
}

impl ColumnRelationStore {
    /// The store of a pipeline; `None` if its columns say nothing. One that has just been committed counts, also where
    /// the transaction sees only what is older. `title` is what a row is called, as SQL.
    pub fn of(
        pipeline: &Pipeline,
        columns: &ContentColumns,
        title: &str,
    ) -> Result<Option<ColumnRelationStore>> {
        let current = sql::with_latest_snapshot(|| derivation::of(pipeline.id, KIND))?;
        let Some(current) = current else { return Ok(None) };
        let wanted = stored(current.options)?;
        let saying = SayingColumns::of(pipeline, columns)?;
        let row = name_of_row(pipeline, columns, title);
        let naming = |name: &str| wanted.names.get(name).map(String::as_str);
        let mut store = ColumnRelationStore {
            relation: current.relation,
            predicates: Vec::new(),
            said: Vec::new(),
        };
        for (name, relation) in &wanted.relations {
            let Some(object) = saying.find(name) else { continue };
            let subject = match &relation.subject {
                None => Some(row.clone()),
                Some(name) => saying.find(name).map(|it| it.value(naming(name))),
            };
            let Some(subject) = subject else { continue };
            store.add(&relation.predicate, &subject, object, naming(name));
        }
        Ok(Some(store))
    }

    fn add(&mut self, predicate: &str, subject: &str, object: &SayingColumn, naming: Option<&str>) {
        self.predicates.push(predicate.to_owned());
        let place = self.predicates.len().to_string();
        let most = MOST_ELEMENTS.to_string();
        let value = match object.is_array() {
            true => short("e.value", LONGEST_VALUE),
            false => object.value(naming),
        };
        let values = [
            ("place", place.as_str()),
            ("subject", subject),
            ("object", &value),
            ("column", &object.here.name),
            ("most", &most),
        ];
        self.said.push(match object.is_array() {
            true => render(query!(column_relations.said_by_each), &values),
            false => render(query!(column_relations.said_once), &values),
        });
    }

    /// What says all of it, as SQL over the chunk `c` and the content view `v`: number, subject and object.
    pub fn said(&self) -> String {
        match self.said.is_empty() {
            // Of columns that are there no more nothing is to stay.
            true => query!(column_relations.said_never).to_owned(),
            false => self.said.join("\nUNION ALL\n"),
        }
    }

    /// Puts what rows say now in the place of what they said.
    pub fn keep(&self, rows: &[SaidByRow]) -> Result<()> {
        let mut chunks: Vec<i64> = rows.iter().map(|(chunk_id, ..)| *chunk_id).collect();
        chunks.sort_unstable();
        chunks.dedup();
        let kept = self.kept(rows);
        let keys = || {
            [
                kept.iter().map(|it| it.chunk_id).collect::<Vec<_>>().into(),
                kept.iter().map(|it| it.subject.norm.as_str()).collect::<Vec<_>>().into(),
                kept.iter().map(|it| it.predicate).collect::<Vec<_>>().into(),
                kept.iter().map(|it| it.object.norm.as_str()).collect::<Vec<_>>().into(),
            ]
        };
        let values = [("relations", self.relation.sql.as_str())];
        let [ids, subjects, predicates, objects] = keys();
        let arguments = [chunks.into(), ids, subjects, predicates, objects];
        sql::execute(&render(query!(column_relations.forget_other), &values), &arguments)?;
        if kept.is_empty() {
            return Ok(());
        }
        let [ids, subjects, predicates, objects] = keys();
        let arguments = [
            ids,
            subjects,
            predicates,
            objects,
            kept.iter().map(|it| it.subject.name.as_str()).collect::<Vec<_>>().into(),
            kept.iter().map(|it| it.object.name.as_str()).collect::<Vec<_>>().into(),
        ];
        sql::execute(&render(query!(column_relations.insert), &values), &arguments).map(drop)
    }

    /// What is said between two names, each relation of a chunk once.
    fn kept(&self, rows: &[SaidByRow]) -> Vec<KeptRelation<'_>> {
        let mut kept: BTreeMap<(i64, String, &str, String), KeptRelation<'_>> = BTreeMap::new();
        for (chunk_id, place, subject, object) in rows {
            pgrx::check_for_interrupts!();
            let predicate = place.and_then(|it| self.predicates.get(it as usize - 1));
            let names = subject.as_deref().and_then(named).zip(object.as_deref().and_then(named));
            let (Some(predicate), Some((subject, object))) = (predicate, names) else { continue };
            if subject.norm == object.norm {
                continue;
            }
            let key = (*chunk_id, subject.norm.clone(), predicate.as_str(), object.norm.clone());
            kept.entry(key).or_insert(KeptRelation {
                chunk_id: *chunk_id,
                subject,
                predicate,
                object,
            });
        }
        kept.into_values().collect()
    }
}

/// What a row is called, as SQL.
fn name_of_row(pipeline: &Pipeline, columns: &ContentColumns, title: &str) -> String {
    let keys: Vec<String> = columns.keys.iter().map(|key| format!("c.{}", key.name)).collect();
    let keys = format!("pg_catalog.concat_ws(', ', {})", keys.join(", "));
    let (longest, row) = (LONGEST.to_string(), called_by(pipeline.source.oid, &keys));
    let values = [("title", title), ("longest", &longest), ("row", &row)];
    render(query!(column_relations.of_row), &values)
}
