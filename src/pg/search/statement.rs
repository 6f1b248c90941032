//! The statements of a search, and their rows.

use pgrx::JsonB;
use pgrx::prelude::*;
use pgrx::spi::{SpiHeapTupleData, quote_literal};

use super::Search;
use crate::error::{Error, ErrorKind, Result};
use crate::pg::catalog::view::Column;
use crate::pg::sql::{self, render};
use crate::retrieve::expansion::Neighbour;
use crate::retrieve::options::Recency;
use crate::retrieve::{Hit, Passage};

/// Fills the statements of one search.
pub struct Statements<'a> {
    search: &'a Search,
    vector: String,
    age: String,
}

impl<'a> Statements<'a> {
    /// An error where the column of `recency` holds no time.
    pub fn new(search: &'a Search) -> Result<Self> {
        let age = match &search.options.recency {
            Some(recency) => age(recency, &search.columns.metadata)?,
            None => include_str!("../../../sql/query/age_none.sql").to_owned(),
        };
        Ok(Statements { search, vector: sql::vector_schema()?, age })
    }

    /// The nearest vectors.
    pub fn dense(&self) -> Result<String> {
        self.candidates(include_str!("../../../sql/query/retrieve_dense.sql"))
    }

    /// The texts that match best.
    pub fn lexical(&self) -> Result<String> {
        self.candidates(include_str!("../../../sql/query/retrieve_lexical.sql"))
    }

    fn candidates(&self, template: &str) -> Result<String> {
        let Search { pipeline, filter, .. } = self.search;
        let values = [
            ("view", &*pipeline.view.sql),
            ("vector", &self.vector),
            ("filter", &filter.condition),
        ];
        Ok(render(template, &values))
    }

    /// Chunks by their keys.
    pub fn passages(&self) -> Result<String> {
        let Search { pipeline, columns, options, .. } = self.search;
        let embedding = match options.compares_chunks() {
            true => include_str!("../../../sql/query/embedding_elements.sql"),
            false => include_str!("../../../sql/query/embedding_none.sql"),
        };
        Ok(render(
            include_str!("../../../sql/query/retrieve_passages.sql"),
            &[
                ("view", &pipeline.view.sql),
                ("vector", &self.vector),
                ("source_key", &source_key(&columns.keys)),
                ("metadata", &json_object(&columns.metadata, Column::bare)),
                ("age", &self.age),
                ("embedding", embedding),
            ],
        ))
    }

    /// The chunks around others.
    pub fn neighbours(&self) -> String {
        let same = |column: &Column| {
            render(include_str!("../../../sql/query/same_key.sql"), &[("column", &column.name)])
        };
        let same: Vec<String> = self.search.columns.keys.iter().map(same).collect();
        render(
            include_str!("../../../sql/query/retrieve_neighbours.sql"),
            &[("view", &self.search.pipeline.view.sql), ("same_source", &same.concat())],
        )
    }
}

/// The age in days by the column of `recency`.
fn age(recency: &Recency, metadata: &[Column]) -> Result<String> {
    let times = metadata.iter().filter(|column| is_time(column)).collect::<Vec<_>>();
    let found = times.iter().find(|column| column.bare() == recency.column);
    let column = found.ok_or_else(|| {
        let message = format!("recency names \"{}\", which is no time", recency.column);
        let names: Vec<String> = times.iter().map(|column| column.bare()).collect();
        let hint = match names.as_slice() {
            [] => "The pipeline declares no metadata column of type date or timestamp.".to_owned(),
            _ => format!("Metadata columns that are: {}.", names.join(", ")),
        };
        Error::new(ErrorKind::UndefinedObject, message).hint(hint)
    })?;
    Ok(render(include_str!("../../../sql/query/age.sql"), &[("column", &column.name)]))
}

fn is_time(column: &Column) -> bool {
    [pg_sys::DATEOID, pg_sys::TIMESTAMPOID, pg_sys::TIMESTAMPTZOID].contains(&column.type_oid)
}

/// A row of `retrieve_passages.sql`; its places and score come from the fusion.
pub fn hit(row: &SpiHeapTupleData<'_>) -> Result<Hit, pgrx::spi::Error> {
    let passage = Passage {
        rank: 0,
        score: 0.0,
        chunk_id: sql::required(row.get(1)?)?,
        source_key: sql::required(row.get(2)?)?,
        chunk_no: sql::required(row.get(3)?)?,
        content: sql::required(row.get(4)?)?,
        start_char: sql::required(row.get(5)?)?,
        end_char: sql::required(row.get(6)?)?,
        heading: row.get(7)?,
        metadata: sql::required(row.get::<JsonB>(8)?)?.0,
        similarity: row.get(9)?,
        dense_rank: None,
        lexical_rank: None,
        rerank_score: None,
    };
    let vector = row.get::<Vec<f32>>(11)?.unwrap_or_default();
    Ok(Hit { passage, age: row.get(10)?, vector })
}

/// A row of `retrieve_neighbours.sql`.
pub fn neighbour(row: &SpiHeapTupleData<'_>) -> Result<Neighbour, pgrx::spi::Error> {
    Ok(Neighbour {
        hit: sql::required(row.get(1)?)?,
        chunk_id: sql::required(row.get(2)?)?,
        chunk_no: sql::required(row.get(3)?)?,
        content: sql::required(row.get(4)?)?,
        start_char: sql::required(row.get(5)?)?,
        end_char: sql::required(row.get(6)?)?,
    })
}

/// The key as text; of a composite key, a JSON object under the source's column names.
fn source_key(keys: &[Column]) -> String {
    match keys {
        [key] => format!("v.{}::text", key.name),
        _ => {
            let name = |column: &Column| column.bare().trim_start_matches("source_").to_owned();
            format!("({})::text", json_object(keys, name))
        }
    }
}

/// An expression that builds a JSON object of columns of `v`.
fn json_object(columns: &[Column], name: impl Fn(&Column) -> String) -> String {
    let pairs = columns.iter().map(|column| {
        let label = quote_literal(name(column));
        format!("{label}, v.{}", column.name)
    });
    format!("pg_catalog.jsonb_build_object({})", pairs.collect::<Vec<_>>().join(", "))
}
