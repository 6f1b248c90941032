//! Relations that columns say: what a row, or what one of its columns names, is to the value of another.
//!
//! They are made by whoever stores the chunks of a row, in the same transaction, of the metadata that is kept with the
//! chunks: so a change of a column is noticed as one of metadata is. They are kept with the first chunk of the row, and go
//! with it by a foreign key. A column that refers to another table says which row of that table, and its name only where the
//! option asks for that: it is read with the rights of the owner of the source, and whoever sees the row that refers to it
//! sees the name. What follows if a column is renamed or dropped is in [`changes`].

pub mod changes;
mod saying;

use std::collections::BTreeMap;

use serde_json::json;

use self::saying::{NamingSql, SayingColumn, SayingColumns, called_by, short, written_key};
use super::table::{self, TableForm};
use crate::error::{Error, ErrorKind, Result};
use crate::graph::name::LONGEST;
use crate::graph::paths::NamedEntity;
use crate::graph::relations::{ColumnRelations, LONGEST_VALUE, MOST_ELEMENTS, keyed, named};
use crate::pg::catalog::derivation::{self, DerivationKind};
use crate::pg::catalog::pipeline::{Pipeline, Relation};
use crate::pg::catalog::view::{ContentColumns, content_columns};
use crate::pg::server::sql::{self, query, render};

const KIND: DerivationKind = DerivationKind::ColumnRelations;

const FORM: TableForm = TableForm {
    kind: KIND,
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

/// What a column says of a row.
pub struct SaidByRow {
    /// The row's first chunk.
    pub chunk_id: i64,
    /// The number of the relation, from 1; `None` where nothing is said.
    pub place: Option<i32>,
    /// The subject.
    pub subject: SaidName,
    /// The object.
    pub object: SaidName,
}

/// How an entity is called, as it is written.
pub struct SaidName {
    /// Its name, if it has one.
    pub name: Option<String>,
    /// Of a row, what it is called by its key.
    pub row: Option<String>,
}

impl SaidName {
    /// The entity: that of its name, or a row that has none by its key.
    fn entity(&self) -> Option<NamedEntity> {
        let by_key = || self.row.as_deref().and_then(keyed);
        self.name.as_deref().and_then(named).or_else(by_key)
    }
}

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

    fn add(
        &mut self,
        predicate: &str,
        subject: &NamingSql,
        object: &SayingColumn,
        naming: Option<&str>,
    ) {
        self.predicates.push(predicate.to_owned());
        let place = self.predicates.len().to_string();
        let most = MOST_ELEMENTS.to_string();
        let value = match object.is_array() {
            true => NamingSql::of(short("e.value", LONGEST_VALUE)),
            false => object.value(naming),
        };
        let values = [
            ("place", place.as_str()),
            ("subject", &subject.name),
            ("subject_row", &subject.row),
            ("object", &value.name),
            ("object_row", &value.row),
            ("column", &object.name()),
            ("most", &most),
        ];
        self.said.push(match object.is_array() {
            true => render(query!(column_relations.said_by_each), &values),
            false => render(query!(column_relations.said_once), &values),
        });
    }

    /// What says all of it, as SQL over the chunk `c` and the content view `v`: number, subject and object, each by its name and
    /// by its key.
    pub fn said(&self) -> String {
        match self.said.is_empty() {
            // Of columns that are there no more nothing is to stay.
            true => query!(column_relations.said_never).to_owned(),
            false => self.said.join("\nUNION ALL\n"),
        }
    }

    /// Puts what rows say now in the place of what they said.
    pub fn keep(&self, rows: &[SaidByRow]) -> Result<()> {
        let mut chunks: Vec<i64> = rows.iter().map(|row| row.chunk_id).collect();
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
        for SaidByRow { chunk_id, place, subject, object } in rows {
            pgrx::check_for_interrupts!();
            let predicate = place.and_then(|it| self.predicates.get(it as usize - 1));
            let names = subject.entity().zip(object.entity());
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

/// What a row is called.
fn name_of_row(pipeline: &Pipeline, columns: &ContentColumns, title: &str) -> NamingSql {
    let keys = columns.keys.iter().map(|key| short(&format!("c.{}", key.name), LONGEST_VALUE));
    let keys = written_key(&keys.collect::<Vec<_>>());
    let longest = LONGEST.to_string();
    let name = render(query!(column_relations.of_row), &[("title", title), ("longest", &longest)]);
    NamingSql { name, row: called_by(pipeline.source.oid, &keys) }
}
