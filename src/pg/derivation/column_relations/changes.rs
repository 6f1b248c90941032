//! Columns of a source, or of a table to which it refers, get other names or go: what is kept of the option follows.
//!
//! The option of a graph names columns as users write them, and users set it again as it is kept. So it is kept with the
//! names that the columns have now, in the option of the graph as well as in what is kept of relations.

use pgrx::prelude::*;
use serde_json::{Value as Json, json};

use super::KIND;
use super::saying::{SayingColumns, foreign_keys};
use crate::error::Result;
use crate::graph::EntityOptions;
use crate::graph::relations::{ColumnRelations, parts};
use crate::pg::catalog::derivation::{self, DerivationKind, StoredDerivation};
use crate::pg::catalog::pipeline::{self, Pipeline};
use crate::pg::catalog::view::content_columns;
use crate::pg::server::role::as_superuser;
use crate::pg::server::sql::{self, query, required};

/// What columns of a pipeline say, with the names that its source's columns have by now.
pub fn by_now(pipeline: &Pipeline, relations: &ColumnRelations) -> Result<ColumnRelations> {
    let columns = SayingColumns::of(pipeline, &content_columns(pipeline)?)?;
    let by_now = |name: &str| {
        let (here, own) = columns.column(name)?;
        Some(own.clone().unwrap_or_else(|| here.bare()))
    };
    Ok(relations.renamed(by_now))
}

/// The option `graph` with `now` in the place of what it says of columns, `before`. What is the same stays as it was written.
#[must_use]
pub fn with_relations(option: &Json, before: &ColumnRelations, now: &ColumnRelations) -> Json {
    let mut option = option.clone();
    if before.relations != now.relations {
        option["relations"] = json!(now.relations);
    }
    if before.names != now.names {
        option["names"] = json!(now.names);
    }
    option
}

/// Leaves out of what is kept for a pipeline what columns say that are no metadata of it any more. To be called as the
/// superuser.
pub fn forget_missing(pipeline: &Pipeline) -> Result<()> {
    if derivation::of(pipeline.id, KIND)?.is_none() {
        return Ok(());
    }
    let columns = SayingColumns::of(pipeline, &content_columns(pipeline)?)?;
    let is_gone = |key: &str| {
        columns.column(key).is_none() && parts(key).any(|part| columns.column(part).is_none())
    };
    rewrite(pipeline, |relations| relations.without(is_gone))
}

/// Has what is kept for pipelines follow a column of `tables` that has got another name: of their sources, or of tables to which
/// these refer. To be called as the superuser, after the statement.
pub fn follow_rename(tables: &[pg_sys::Oid], before: &str, now: &str) -> Result<()> {
    let found =
        || sql::rows(query!(column_relations.pipelines), &[], |row| required(row.get::<i32>(1)?));
    for id in as_superuser(found)? {
        let Some(pipeline) = pipeline::by_id(id)? else { continue };
        let is_source = tables.contains(&pipeline.source.oid);
        let is_named = foreign_keys(pipeline.source.oid)?.iter().any(|it| tables.contains(&it.oid));
        if is_source || is_named {
            rename(&pipeline, tables, (before, now))?;
        }
    }
    Ok(())
}

fn rename(pipeline: &Pipeline, tables: &[pg_sys::Oid], (before, now): (&str, &str)) -> Result<()> {
    // Of a pipeline that has lost its content view nothing is said any more, and the statement is not about it.
    let Ok(columns) = content_columns(pipeline) else { return Ok(()) };
    let columns = SayingColumns::of(pipeline, &columns)?;
    let is_source = tables.contains(&pipeline.source.oid);
    rewrite(pipeline, |relations| {
        let name = |known: &str| (is_source && known == before).then(|| now.to_owned());
        let mut renamed = relations.renamed(name);
        for (key, naming) in &mut renamed.names {
            let refers_to = columns.find(key).and_then(|it| it.refers_to);
            if naming.as_str() == before && refers_to.is_some_and(|it| tables.contains(&it.oid)) {
                now.clone_into(naming);
            }
        }
        renamed
    })
}

/// Puts what `change` makes of what columns say in the place of what is kept of it.
fn rewrite(
    pipeline: &Pipeline,
    change: impl Fn(&ColumnRelations) -> ColumnRelations,
) -> Result<()> {
    if let Some(kept) = derivation::of(pipeline.id, KIND)? {
        let relations: ColumnRelations = derivation::options(KIND, &kept.options)?;
        let now = change(&relations);
        if now != relations {
            derivation::set(pipeline.id, KIND, &json!(now), &kept.relation.sql)?;
        }
    }
    let graph = DerivationKind::Mentions;
    let Some(StoredDerivation { options, relation, .. }) = derivation::of(pipeline.id, graph)?
    else {
        return Ok(());
    };
    let relations = EntityOptions::read(&options)?.and_then(|it| it.column_relations());
    let Some(relations) = relations else { return Ok(()) };
    let now = change(&relations);
    match now == relations {
        true => Ok(()),
        false => {
            let options = with_relations(&options, &relations, &now);
            derivation::set(pipeline.id, graph, &options, &relation.sql)
        }
    }
}
