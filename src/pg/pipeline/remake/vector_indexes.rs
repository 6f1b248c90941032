//! Indexes of vectors that are in the way when columns of a chunk table go or get other values.

use pgrx::prelude::*;

use super::super::comment;
use crate::error::Result;
use crate::pg::server::sql::{self, query, render};

/// An index of the chunks' vectors.
pub struct VectorIndex {
    /// Its name, with its schema and quotes.
    name: String,
    /// What makes it anew; `None` where it can't have a column any more that it filters by.
    definition: Option<String>,
    /// What its owner has said of it.
    comment: Option<String>,
}

impl VectorIndex {
    /// Those of a chunk table that filter by one of the columns `unfit`, which are not made anew; and, where other columns
    /// are filled, those that are made anew from the finished table: each vector would otherwise go into them when its row
    /// is filled, and again when the table is written. Those with expressions are not among these: PostgreSQL makes them
    /// anew, as their owner.
    pub fn in_the_way(
        chunk_table: pg_sys::Oid,
        unfit: Vec<String>,
        is_filled: bool,
    ) -> Result<Vec<VectorIndex>> {
        let arguments = [chunk_table.into(), unfit.into()];
        let found = sql::rows(query!(remake.vector_indexes), &arguments, |row| {
            let goes: bool = sql::required(row.get(3)?)?;
            let definition = row.get::<String>(2)?.filter(|_| !goes);
            let is_in_the_way = goes || (is_filled && definition.is_some());
            let (name, comment) = (sql::required(row.get(1)?)?, row.get(4)?);
            Ok(is_in_the_way.then_some(VectorIndex { name, definition, comment }))
        })?;
        Ok(found.into_iter().flatten().collect())
    }

    /// Drops it.
    pub fn take_away(&self) -> Result<()> {
        let statement = render(query!(remake.drop_index), &[("index", self.name.as_str())]);
        sql::execute(&statement, &[]).map(drop)
    }

    /// Makes it anew where it is now, with its comment, if it can have its columns.
    pub fn put_back(&self) -> Result<()> {
        let Some(definition) = &self.definition else { return Ok(()) };
        sql::execute(definition, &[])?;
        let Some(comment) = &self.comment else { return Ok(()) };
        comment::on_relation("INDEX", &self.name, comment)
    }
}
