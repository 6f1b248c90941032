//! What a question names of its pipeline: rows by their keys, and what stands under a heading.

use pgrx::datum::DatumWithOid;
use pgrx::pg_sys;

use super::statement::Statements;
use super::{FilterSql, Search};
use crate::error::Result;
use crate::extract::subject::{possible_composite_keys, possible_keys, possible_numbers};
use crate::pg::catalog::operator::{self, Operators};
use crate::pg::catalog::view::ViewColumn;
use crate::pg::server::prepared;
use crate::pg::server::sql::{query, render, required};
use crate::retrieve::Passage;
use crate::retrieve::fusion::Candidate;

/// Types of keys that a question can name: texts, and whole numbers.
const TEXTS: [pg_sys::Oid; 2] = [pg_sys::TEXTOID, pg_sys::VARCHAROID];
const NUMBERS: [pg_sys::Oid; 3] = [pg_sys::INT2OID, pg_sys::INT4OID, pg_sys::INT8OID];

/// Most keys of several columns that are looked up, and most combinations of what the columns of one may be.
const MOST_KEYS: usize = 8;
const MOST_COMBINATIONS: usize = 4096;

/// Most chunks of a section that are read, the first ones.
const MOST_CHUNKS: i64 = 200;

/// What stands under a heading.
pub struct SectionPassages {
    /// Its chunks, in their order.
    pub passages: Vec<Passage>,
    /// Whether all of the row stands under it.
    pub is_whole: bool,
}

impl Search {
    /// What the pipeline and its table are called.
    pub fn table_names(&self) -> Vec<String> {
        let pipeline = self.pipeline();
        let table = pipeline.source.sql.rsplit('.').next().unwrap_or_default();
        vec![pipeline.name.clone(), table.trim_matches('"').to_owned()]
    }

    /// Whether rows have titles.
    pub fn has_title(&self) -> bool {
        self.columns.title.is_some()
    }

    /// The first chunks of the rows that `query` names by their keys: texts as they are written, and numbers right behind the
    /// name of the table. A key of several columns is named where each of its texts is, and beside them its number if it has one.
    pub(super) fn named_rows(&self, query: &str) -> Result<Vec<i64>> {
        let keys = &self.columns.keys;
        let kinds: Vec<pg_sys::Oid> =
            keys.iter().map(|key| operator::base_type(key.type_oid)).collect();
        let count = |types: &[pg_sys::Oid]| kinds.iter().filter(|it| types.contains(it)).count();
        let (texts, numbers) = (count(&TEXTS), count(&NUMBERS));
        if texts + numbers < kinds.len() {
            return Ok(Vec::new());
        }
        let tables = self.table_names();
        let possible: Vec<(Vec<String>, Vec<i64>)> = match (texts, numbers) {
            (1, 0) => vec![(possible_keys(query), Vec::new())],
            (0, 1) => vec![(Vec::new(), possible_numbers(query, &tables))],
            (1.., 0 | 1) => {
                let keys = possible_composite_keys(query, &tables, numbers == 1).into_iter();
                keys.map(|it| (it.texts, it.number.into_iter().collect())).collect()
            }
            _ => Vec::new(),
        };
        let is_named = |(n, key): (usize, &ViewColumn)| {
            let n = n.to_string();
            render(query!(tree.named_column), &[("key", &key.name), ("n", &n)])
        };
        let is_named = (1..).zip(keys).map(is_named).collect::<Vec<_>>().join(" AND ");
        let table = self.pipeline().chunk_table.sql.as_str();
        let values = [("chunk_table", table), ("is_named", &is_named)];
        let statement = render(query!(tree.named), &values);
        let mut named: Vec<i64> = Vec::new();
        for (texts, numbers) in possible.into_iter().take(MOST_KEYS) {
            let is_text = |kind: &pg_sys::Oid| TEXTS.contains(kind);
            let length = |it: &pg_sys::Oid| if is_text(it) { texts.len() } else { numbers.len() };
            let combinations = kinds.iter().map(length).fold(1, usize::saturating_mul);
            if !(1..=MOST_COMBINATIONS).contains(&combinations) {
                continue;
            }
            let argument = |it: &pg_sys::Oid| match is_text(it) {
                true => DatumWithOid::from(texts.clone()),
                false => DatumWithOid::from(numbers.clone()),
            };
            let arguments: Vec<DatumWithOid<'_>> = kinds.iter().map(argument).collect();
            let found = prepared::rows_planned_for_values(&statement, &arguments, |row| {
                required(row.get::<i64>(1)?)
            })?;
            for chunk_id in found {
                if !named.contains(&chunk_id) {
                    named.push(chunk_id);
                }
            }
        }
        Ok(named)
    }

    /// What stands under the heading at the end of `path` in the row of a chunk, or all of the row where the path is empty; `None`
    /// where other chunks have taken the place of those that were found.
    pub fn section(&self, chunk_id: i64, path: &str) -> Result<Option<SectionPassages>> {
        self.in_filter(None, |statements| self.section_in(statements, chunk_id, path))
    }

    fn section_in(
        &self,
        statements: &Statements<'_>,
        chunk_id: i64,
        path: &str,
    ) -> Result<SectionPassages> {
        let same = |column: &ViewColumn| {
            let [one, other] = ["v", "h"].map(|relation| format!("{relation}.{}", column.name));
            Operators::of(column.type_oid).equal_to(&one, &other)
        };
        let same_row = self.columns.keys.iter().map(same).collect::<Vec<_>>().join(" AND ");
        let FilterSql { condition, values, .. } = statements.filter;
        let parts = [
            ("view", self.pipeline().view.sql.as_str()),
            ("same_row", &same_row),
            ("filter", condition),
        ];
        let statement = render(query!(tree.section), &parts);
        let arguments = [chunk_id.into(), path.into(), values.clone().into(), MOST_CHUNKS.into()];
        let found = prepared::rows(&statement, &arguments, |row| {
            Ok((required(row.get::<i64>(1)?)?, required(row.get::<bool>(2)?)?))
        })?;
        let candidates: Vec<Candidate> =
            found.iter().map(|(chunk_id, _)| Candidate::by_graph(*chunk_id, 0.0)).collect();
        let hits = self.hits(statements, None, &candidates)?;
        Ok(SectionPassages {
            is_whole: found.first().is_some_and(|(_, is_whole)| *is_whole),
            passages: hits.into_iter().map(|hit| hit.passage).collect(),
        })
    }
}
