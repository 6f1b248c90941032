//! Comments on a pipeline's relations, which tools and language models read to know what is in them.
//!
//! They stay when a relation is renamed, replaced or given away, and go when it is dropped.

use std::collections::HashMap;

use pgrx::prelude::*;
use pgrx::spi::quote_literal;

use crate::error::Result;
use crate::pg::catalog::pipeline::{self, Pipeline, Relation};
use crate::pg::catalog::{locking, view};
use crate::pg::server::sql::{self, query, render};

/// What the comments on content view, chunk table and view say of a pipeline called `name`.
fn texts(name: &str) -> [String; 3] {
    [
        format!("key, content and metadata of the rows of which pipeline \"{name}\" makes chunks"),
        format!("chunks of pipeline \"{name}\" with their vectors, seen as far as the source is"),
        format!("chunks of pipeline \"{name}\" whose source rows the caller may see, for queries"),
    ]
}

/// Comments on the content view of the pipeline called `pipeline`, and its columns.
pub fn on_content_view(content_view: &str, pipeline: &str, has_title: bool) -> Result<()> {
    let [text, _, _] = texts(pipeline);
    let values = [("content_view", content_view), ("comment", &quote_literal(text))];
    sql::execute(&render(query!(create.comment_content_view), &values), &[])?;
    if !has_title {
        return Ok(());
    }
    let values = [("content_view", content_view), ("name", view::TITLE)];
    sql::execute(&render(query!(create.comment_title), &values), &[]).map(drop)
}

/// Comments on the chunk table of the pipeline called `pipeline`, and its columns.
pub fn on_chunk_table(chunk_table: &str, pipeline: &str) -> Result<()> {
    let [_, text, _] = texts(pipeline);
    let values = [("chunk_table", chunk_table), ("comment", &quote_literal(text))];
    sql::execute(&render(query!(create.comment_chunk_table), &values), &[]).map(drop)
}

/// Comments on the view of the pipeline called `pipeline`, and its columns.
pub fn on_view(view: &str, pipeline: &str) -> Result<()> {
    let [_, _, text] = texts(pipeline);
    let values = [("view", view), ("comment", &quote_literal(text))];
    sql::execute(&render(query!(create.comment_view), &values), &[]).map(drop)
}

/// A column that shows one of another relation.
pub struct ShownColumn {
    /// Its name, quoted.
    pub name: String,
    /// The name of the other, bare; empty where there is none.
    pub of: String,
    /// What is said of it where nothing is said of the other.
    pub otherwise: &'static str,
}

impl ShownColumn {
    /// A column of the source's key.
    pub fn key(name: String, of: &str) -> Self {
        Self { name, of: of.to_owned(), otherwise: "key of the row of the source" }
    }

    /// A column of metadata: a copy of another one or, without one, what an expression makes.
    pub fn metadata(name: String, of: Option<&str>) -> Self {
        let otherwise = match of {
            Some(_) => "metadata, copied from the row of the source",
            None => "metadata, computed from the row of the source",
        };
        Self { name, of: of.unwrap_or_default().to_owned(), otherwise }
    }
}

/// Has columns of `relation` bear the comments that those of the relation `of` bear now, which they show.
pub fn on_shown(relation: &str, of: pg_sys::Oid, columns: &[ShownColumn]) -> Result<()> {
    let shown: Vec<&str> = columns.iter().map(|column| column.of.as_str()).collect();
    let said = sql::rows(query!(create.comments_of_columns), &[of.into(), shown.into()], |row| {
        Ok((sql::required(row.get::<String>(1)?)?, sql::required(row.get::<String>(2)?)?))
    })?;
    let said: HashMap<String, String> = said.into_iter().collect();
    columns.iter().try_for_each(|column| {
        let text = said.get(&column.of).map_or(column.otherwise, String::as_str);
        let values =
            [("relation", relation), ("name", &column.name), ("comment", &quote_literal(text))];
        sql::execute(&render(query!(create.comment_column), &values), &[]).map(drop)
    })
}

/// Has the columns of `relation` bear the comments of those of the relation `of` that have the same names.
pub fn on_same(relation: &str, of: pg_sys::Oid) -> Result<()> {
    let same = |column: view::ViewColumn| {
        let of = column.bare();
        ShownColumn { name: column.name, of, otherwise: "" }
    };
    let columns: Vec<_> = view::columns(of)?.into_iter().map(same).collect();
    on_shown(relation, of, &columns)
}

/// What comments call a pipeline: one that is to take the place of another goes by the other's name.
pub fn name_of(pipeline: &Pipeline) -> Result<String> {
    let replaced = pipeline.replaces.map_or(Ok(None), pipeline::by_id)?;
    Ok(replaced.map_or_else(|| pipeline.name.clone(), |old| old.name))
}

/// Has the comments on the relations of `pipeline`, and of its successor, follow its name, which was
/// `before`. What a user has written there stays.
pub fn rename(pipeline: &Pipeline, before: &str) -> Result<()> {
    if pipeline.name == before {
        return Ok(());
    }
    let successor = pipeline::successor(pipeline.id)?;
    for generation in [Some(pipeline), successor.as_ref()].into_iter().flatten() {
        rename_on(generation, before, &pipeline.name)?;
    }
    Ok(())
}

fn rename_on(generation: &Pipeline, before: &str, now: &str) -> Result<()> {
    let relations = [
        ("VIEW", &generation.content_view),
        ("TABLE", &generation.chunk_table),
        ("VIEW", &generation.view),
    ];
    // A VACUUM of the chunks may take hours, and workers wait for the pipeline meanwhile.
    if !locking::lock_for_comments(&relations.map(|(_, relation)| relation.oid))? {
        notice!(
            "comments on the relations of pipeline \"{now}\" still call it \"{before}\": one of them is in use"
        );
        return Ok(());
    }
    let words = texts(before).into_iter().zip(texts(now));
    for ((kind, relation), (old, new)) in relations.into_iter().zip(words) {
        if has_comment(relation, &old)? {
            on_relation(kind, &relation.sql, &new)?;
        }
    }
    Ok(())
}

/// Says `text` of a relation of this kind, a word of COMMENT ON; `relation` is its name with quotes.
pub fn on_relation(kind: &str, relation: &str, text: &str) -> Result<()> {
    let comment = quote_literal(text);
    let values = [("kind", kind), ("relation", relation), ("comment", &comment)];
    sql::execute(&render(query!(create.comment_relation), &values), &[]).map(drop)
}

fn has_comment(relation: &Relation, text: &str) -> Result<bool> {
    let statement = query!(create.has_comment);
    let found = sql::rows(statement, &[relation.oid.into(), text.into()], |_| Ok(()))?;
    Ok(!found.is_empty())
}
