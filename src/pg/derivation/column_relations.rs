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
use pgrx::spi::{quote_identifier, quote_literal};
use serde_json::json;

use super::table::{self, TableForm};
use crate::error::{Error, ErrorKind, Result};
use crate::graph::name::LONGEST;
use crate::graph::paths::NamedEntity;
use crate::graph::relations::{ColumnRelations, LONGEST_VALUE, MOST_ELEMENTS, named, parts};
use crate::pg::catalog::derivation::{self, DerivationKind};
use crate::pg::catalog::operator;
use crate::pg::catalog::pipeline::{Pipeline, Relation};
use crate::pg::catalog::view::{self, ContentColumns, ViewColumn, content_columns};
use crate::pg::server::sql::{self, query, render};

const KIND: DerivationKind = DerivationKind::ColumnRelations;

const FORM: TableForm = TableForm {
    kind: KIND,
    definition: query!(column_relations.create_table),
    leaves: ("ARRAY[chunk_id]", "chunk_id"),
    comments: query!(column_relations.comment_table),
};

/// Keys of several columns whose words alone say what they are: each part is one word, or a UUID, which is always five. Letters
/// are small, since names are compared without case; letters beyond ASCII may be of a script that writes words without spaces.
const WORDS: &str = concat!(
    "^([a-z0-9_]*[a-z0-9][a-z0-9_]*|[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12})",
    "(, ([a-z0-9_]*[a-z0-9][a-z0-9_]*|[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}))*$",
);

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
        at.and_then(|at| in_source.get(at).cloned())
    };
    Ok(relations.renamed(name))
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
        columns.find(name).ok_or_else(|| columns.not_found(pipeline, name))?;
    }
    let subjects = wanted.relations.values().filter_map(|it| it.subject.as_deref());
    for column in subjects.filter_map(|name| columns.find(name)) {
        if column.is_array() {
            let message = format!("column {} is an array and names no subject", column.name());
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

/// A foreign key of a source.
#[derive(Clone, Debug)]
struct NamingKey {
    /// The columns of the source, in the order in which the other table's index has those to which they refer.
    own: Vec<String>,
    /// The other table, as SQL, and its columns.
    table: String,
    keys: Vec<String>,
    /// The operators that compare both, that of the other table first.
    equal: Vec<pg_sys::Oid>,
    /// The columns of the other table that may be read.
    readable: Vec<String>,
    /// OID of the other table.
    oid: pg_sys::Oid,
    /// How its own rows are told from those of tables that inherit from it, as SQL.
    only: String,
}

/// A metadata column of a pipeline, or several that are a foreign key, and to what they refer in the source.
#[derive(Clone, Debug)]
struct SayingColumn {
    here: Vec<ViewColumn>,
    refers_to: Option<NamingKey>,
}

/// The metadata columns of a pipeline, each with its name in the source, and the foreign keys of that.
struct SayingColumns {
    columns: Vec<(ViewColumn, String)>,
    keys: Vec<NamingKey>,
}

impl SayingColumns {
    fn of(pipeline: &Pipeline, columns: &ContentColumns) -> Result<SayingColumns> {
        let in_source = view::metadata_names(pipeline)?;
        Ok(SayingColumns {
            columns: columns.metadata.iter().cloned().zip(in_source).collect(),
            keys: foreign_keys(pipeline.source.oid)?,
        })
    }

    /// The column of this name, which is not quoted, or the columns of a foreign key, with commas between their names.
    fn find(&self, name: &str) -> Option<SayingColumn> {
        if let Some((here, own)) = self.column(name) {
            let refers_to = self.key_of(&[own]).cloned();
            return Some(SayingColumn { here: vec![here.clone()], refers_to });
        }
        let parts = parts(name).map(|it| self.column(it)).collect::<Option<Vec<_>>>()?;
        let key = self.key_of(&parts.iter().map(|(_, own)| own).collect::<Vec<_>>())?;
        let here = key.own.iter().filter_map(|it| parts.iter().find(|(_, own)| own == it));
        Some(SayingColumn {
            here: here.map(|(here, _)| here.clone()).collect(),
            refers_to: Some(key.clone()),
        })
    }

    fn column(&self, name: &str) -> Option<&(ViewColumn, String)> {
        self.columns.iter().find(|(here, _)| here.bare() == name)
    }

    /// The foreign key of just these columns of the source, in any order.
    fn key_of(&self, own: &[&String]) -> Option<&NamingKey> {
        self.keys.iter().find(|key| {
            key.own.len() == own.len() && key.own.iter().all(|column| own.contains(&column))
        })
    }

    /// The error of a name of which nothing can be said.
    fn not_found(&self, pipeline: &Pipeline, name: &str) -> Error {
        if let Some(missing) = parts(name).find(|it| self.column(it).is_none()) {
            return no_metadata(pipeline, missing);
        }
        let message = format!("columns \"{name}\" of \"graph\" are no foreign key");
        let several = self.keys.iter().filter(|key| key.own.len() > 1);
        let known: Vec<String> = several.map(|key| format!("\"{}\"", key.own.join(", "))).collect();
        let error = Error::new(ErrorKind::UndefinedObject, message);
        match known.is_empty() {
            true => {
                error.hint("The source has no foreign key of several columns: name one column.")
            }
            false => error.hint(format!(
                "Foreign keys of several columns that the source has: {}.",
                known.join("; ")
            )),
        }
    }
}

impl SayingColumn {
    /// The column's name, or the names, as SQL.
    fn name(&self) -> String {
        self.here.iter().map(|it| it.name.as_str()).collect::<Vec<_>>().join(", ")
    }

    /// Whether it is one column, which is an array. Elements refer to no row.
    fn is_array(&self) -> bool {
        self.here.len() == 1 && self.here[0].sql_type.ends_with("[]")
    }

    /// An error where the rows to which it refers cannot be called by the column `naming`.
    fn check_naming(&self, naming: &str) -> Result<()> {
        let name = self.name();
        let Some(key) = &self.refers_to else {
            let message = format!("column {name} of \"graph.names\" refers to no other table");
            return Err(Error::invalid(message).hint(
                "Names in another table are those of a foreign key. One of several columns is named with all of them, \
                 as in \"tenant_id, author_id\".",
            ));
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
    /// the name of its table and its key. NULL, also of one of several columns, refers to no row.
    fn value(&self, naming: Option<&str>) -> String {
        let columns = self.here.iter().map(|it| format!("c.{}", it.name));
        let values: Vec<String> = columns.map(|it| short(&it, LONGEST_VALUE)).collect();
        let Some(key) = &self.refers_to else { return values.concat() };
        let values: Vec<String> = values.iter().map(|it| format!("nullif({it}, '')")).collect();
        let row = called_by(key.oid, &written_key(&values));
        let Some(naming) = naming else { return row };
        let is_readable = |name: &str| key.readable.iter().any(|it| it == name);
        if !(is_readable(naming) && key.keys.iter().all(|it| is_readable(it))) {
            warn_once(key, naming);
            return row;
        }
        let name = short(&format!("t.{}", quote_identifier(naming)), LONGEST);
        let values = [
            ("name", name.as_str()),
            ("table", &key.table),
            ("only", &key.only),
            ("has_key", &self.has_key(key)),
            ("row", &row),
        ];
        render(query!(column_relations.named), &values)
    }

    /// That the row `t` of the other table is the one to which the chunk `c` refers, as SQL.
    fn has_key(&self, key: &NamingKey) -> String {
        let pairs = key.keys.iter().zip(&key.equal).zip(&self.here);
        let same = pairs.map(|((name, equal), here)| {
            let (name, equal) = (quote_identifier(name), operator::named(*equal, "="));
            let values = [("key", &*name), ("equal", &equal), ("column", here.name.as_str())];
            render(query!(column_relations.same_key), &values)
        });
        same.collect::<Vec<_>>().join(" AND ")
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

/// A key as it is written, of its parts as texts, as SQL. NULL where one of them is.
fn written_key(parts: &[String]) -> String {
    if let [only] = parts {
        return only.clone();
    }
    let part = |part: &String| render(query!(column_relations.key_part), &[("value", part)]);
    let parts: Vec<String> = parts.iter().map(part).collect();
    let parts = parts.join(" OPERATOR(pg_catalog.||) ', ' OPERATOR(pg_catalog.||) ");
    let words = quote_literal(WORDS);
    render(query!(column_relations.key_of_several), &[("parts", &parts), ("words", &words)])
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

/// The foreign keys of a table. Of several with the same columns the first one counts.
fn foreign_keys(table: pg_sys::Oid) -> Result<Vec<NamingKey>> {
    sql::rows(query!(column_relations.foreign_keys), &[table.into()], |row| {
        Ok(NamingKey {
            own: sql::required(row.get(1)?)?,
            table: sql::required(row.get(2)?)?,
            keys: sql::required(row.get(3)?)?,
            equal: sql::required(row.get(4)?)?,
            readable: sql::required(row.get(5)?)?,
            oid: sql::required(row.get(6)?)?,
            only: sql::required(row.get(7)?)?,
        })
    })
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
        let wanted: ColumnRelations = derivation::options(KIND, &current.options)?;
        let saying = SayingColumns::of(pipeline, columns)?;
        let row = name_of_row(pipeline, columns, title);
        let mut store = ColumnRelationStore {
            relation: current.relation,
            predicates: Vec::new(),
            said: Vec::new(),
        };
        for (name, relation) in &wanted.relations {
            let Some(object) = saying.find(name) else { continue };
            let subject = match &relation.subject {
                None => Some(row.clone()),
                Some(name) => saying.find(name).map(|it| it.value(wanted.naming(name))),
            };
            let Some(subject) = subject else { continue };
            store.add(&relation.predicate, &subject, &object, wanted.naming(name));
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
            ("column", &object.name()),
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
    let keys = columns.keys.iter().map(|key| short(&format!("c.{}", key.name), LONGEST_VALUE));
    let keys = written_key(&keys.collect::<Vec<_>>());
    let (longest, row) = (LONGEST.to_string(), called_by(pipeline.source.oid, &keys));
    let values = [("title", title), ("longest", &longest), ("row", &row)];
    render(query!(column_relations.of_row), &values)
}
