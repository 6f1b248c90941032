//! What a document says as a whole, for whoever sees all of it.

use super::search::{SearchedPipeline, tree};
use super::{derived, route};
use crate::error::{Error, ErrorKind, Result};
use crate::pg::catalog::derivation::DerivationKind;
use crate::pg::catalog::operator::{self, Operators};
use crate::pg::catalog::pipeline::{self, Pipeline};
use crate::pg::catalog::view::{self, ViewColumn, content_columns};
use crate::pg::server::prepared;
use crate::pg::server::sql::{query, render, required};

/// A sentence of a summary, with its place in the document, or a summary that a language model has written, which has none.
pub struct SummaryLine {
    /// Its number, from 1; 0 of what a language model has written.
    pub no: i64,
    /// The sentence.
    pub content: String,
    /// Primary key of the chunk that it stands in.
    pub chunk_id: Option<i64>,
    /// The place of this chunk in the document, from 0.
    pub chunk_no: Option<i32>,
    /// Its first character in the document, from 0.
    pub start_char: Option<i32>,
    /// One past its last character.
    pub end_char: Option<i32>,
}

/// The sentences that sum up the row with this key, which is text or, of a composite key, a JSON object. None where there
/// is no such row for the caller, or its tree is not made yet.
pub fn lines(key: Option<&str>, name: Option<&str>) -> Result<Vec<SummaryLine>> {
    let key =
        key.ok_or_else(|| Error::new(ErrorKind::NullNotAllowed, "source_key must not be NULL"))?;
    route::refuse_several(name, "rag_summary")?;
    let searched = SearchedPipeline::new(pipeline::resolve(name)?, name.is_some());
    let (searched, _locked) = searched.locked()?;
    searched.reading(|| {
        let pipeline = &searched.pipeline;
        pipeline::check_readable(pipeline)?;
        let stored = derived::required(pipeline, DerivationKind::Tree, tree::WORDS)?;
        let _owners = searched.check_owners(&[&stored.relation])?;
        of_document(pipeline, &stored.relation.sql, key)
    })
}

fn of_document(pipeline: &Pipeline, tree: &str, key: &str) -> Result<Vec<SummaryLine>> {
    let key = view::key_parts(pipeline, key)?;
    let is_asked = is_asked(&content_columns(pipeline)?.keys);
    let values = [
        ("tree", tree),
        ("chunk_table", pipeline.chunk_table.sql.as_str()),
        ("view", &pipeline.view.sql),
        ("is_asked", &is_asked),
    ];
    let statement = render(query!(tree.of_document), &values);
    prepared::rows(&statement, &[key.into()], |row| {
        Ok(SummaryLine {
            no: required(row.get(1)?)?,
            content: required(row.get(2)?)?,
            chunk_id: row.get(3)?,
            chunk_no: row.get(4)?,
            start_char: row.get(5)?,
            end_char: row.get(6)?,
        })
    })
}

/// That a row of the view `v` is of the row whose key is `$1`. Its columns are compared as what they are, by their index,
/// but the key that is asked for is not made to fit them: cut off or rounded, it would be that of another row.
fn is_asked(keys: &[ViewColumn]) -> String {
    let is_same = |(n, ViewColumn { name, type_oid, .. }): (usize, &ViewColumn)| {
        let given_type = operator::type_name(operator::base_type(*type_oid));
        let n = n.to_string();
        let given = render(query!(tree.given_key), &[("n", &n), ("type", &given_type)]);
        Operators::of(*type_oid).equal_to(&format!("v.{name}"), &given)
    };
    (1..).zip(keys).map(is_same).collect::<Vec<_>>().join(" AND ")
}
