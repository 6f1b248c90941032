//! What stands under a heading that a question names.

use super::statement::Statements;
use super::{FilterSql, Search};
use crate::error::Result;
use crate::pg::catalog::operator::Operators;
use crate::pg::catalog::view::ViewColumn;
use crate::pg::server::prepared;
use crate::pg::server::sql::{query, render, required};
use crate::retrieve::Passage;
use crate::retrieve::fusion::Candidate;

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
