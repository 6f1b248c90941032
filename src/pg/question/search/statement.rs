//! The statements of a search, and their rows.

use pgrx::prelude::*;
use pgrx::spi::{SpiHeapTupleData, quote_literal};

use super::filter_sql::FilterSql;
use super::lexical_index::lexical_index;
use super::{Search, shards};
use crate::error::{Error, ErrorKind, Result};
use crate::pg::catalog::operator::Operators;
use crate::pg::catalog::pipeline::Pipeline;
use crate::pg::catalog::shard::Shard;
use crate::pg::catalog::view::ViewColumn;
use crate::pg::server::json::WrittenJsonb;
use crate::pg::server::sql::{self, query, render};
use crate::retrieve::expansion::Neighbour;
use crate::retrieve::options::Recency;
use crate::retrieve::{Hit, Passage, RetrieveOptions};
use crate::rewrite::feedback::FeedbackChunk;

/// What is looked up once for all statements of a search.
pub struct StatementParts {
    /// The schema of pgvector's operators.
    vector: String,
    /// The schema of our own.
    rag: String,
    /// The age of a chunk.
    age: String,
}

impl StatementParts {
    /// The schema of pgvector's operators, as SQL.
    pub fn vector(&self) -> &str {
        &self.vector
    }

    /// An error where the column of `recency` holds no time.
    pub fn new(options: &RetrieveOptions, metadata: &[ViewColumn]) -> Result<Self> {
        let age = match &options.recency {
            Some(recency) => age(recency, metadata)?,
            None => query!(retrieve.age_none).to_owned(),
        };
        Ok(StatementParts { vector: sql::vector_schema()?, rag: sql::extension_schema()?, age })
    }
}

/// Fills the statements of one search.
pub struct Statements<'a> {
    /// What is searched, and how.
    pub search: &'a Search,
    /// What must hold for each chunk.
    pub filter: &'a FilterSql,
    /// The rag_bm25 index of the chunks; pipelines that are older than this have none.
    pub lexical_index: Option<pg_sys::Oid>,
    /// The shards that are asked; none of a pipeline that has its chunks here.
    pub shards: Vec<&'a Shard>,
    /// By what words are ranked, as a rag.bm25_weighted_query has it; `None`: by the index.
    pub statistics: Option<&'a [f64]>,
}

impl<'a> Statements<'a> {
    /// Locks the view of the chunks, and so do the statements with what they read: to be called when
    /// no model is waited for any more.
    pub fn new(search: &'a Search, filter: &'a FilterSql) -> Self {
        let Pipeline { view, source, has_shards, .. } = search.pipeline();
        let lexical_index = if *has_shards { None } else { lexical_index(view.oid, source.oid) };
        let shards = search.shards.all.iter().collect();
        Statements { search, filter, lexical_index, shards, statistics: None }
    }

    /// The statement for the nearest vectors.
    pub fn dense(&self) -> String {
        self.candidates("d", query!(retrieve.dense), &[("score", &self.score("d.tsv"))])
    }

    /// The texts that match best.
    pub fn lexical(&self) -> String {
        if !self.is_indexed() {
            let template = query!(retrieve.lexical_unindexed);
            return self.candidates("l", template, &[("score", &self.rank("v.tsv"))]);
        }
        let distance = self.distance("v.tsv");
        self.candidates("l", query!(retrieve.lexical), &[("distance", &distance)])
    }

    /// The chunks whose summaries or questions are nearest, where there are any.
    pub fn represented(&self) -> Option<String> {
        let Search { parts, representations, .. } = self.search;
        let pipeline = self.search.pipeline();
        let table = representations.as_ref()?;
        let score = self.score("d.tsv");
        Some(render(
            query!(retrieve.represented),
            &[
                ("view", &*pipeline.view.sql),
                ("chunk_table", &pipeline.chunk_table.sql),
                ("representations", &table.sql),
                ("vector", &parts.vector),
                ("filter", &self.filter.condition),
                ("score", &score),
                ("words", &self.words("d")),
            ],
        ))
    }

    /// The words of each chunk, where it matters how they stand.
    fn words(&self, candidate: &str) -> String {
        match self.search.looks_closer() {
            true => render(query!(retrieve.words), &[("candidate", candidate)]),
            false => query!(retrieve.words_none).to_owned(),
        }
    }

    /// Whether texts are ranked by BM25.
    pub fn is_indexed(&self) -> bool {
        self.lexical_index.is_some() || self.statistics.is_some() || self.has_shards()
    }

    fn has_shards(&self) -> bool {
        self.search.pipeline().has_shards
    }

    /// The chunks whose keys `keys`, a parameter, has, as a relation.
    fn chunks(&self, keys: &str) -> String {
        match self.has_shards() {
            true => shards::chunks(&self.shards, &self.search.shards.columns, keys),
            false => self.search.pipeline().view.sql.clone(),
        }
    }

    /// How well the words of a text match; the best is the greatest.
    fn score(&self, document: &str) -> String {
        match self.is_indexed() {
            true => {
                let distance = self.distance(document);
                let template = query!(retrieve.text_score);
                render(template, &[("distance", &distance)])
            }
            false => self.rank(document),
        }
    }

    /// How far a text is from the question by its words; the best is the least.
    fn distance(&self, document: &str) -> String {
        let template = match self.statistics {
            Some(_) => query!(retrieve.text_distance_by_given),
            None => query!(retrieve.text_distance),
        };
        render(template, &[("document", document), ("rag", &self.search.parts.rag)])
    }

    /// How well a text matches the words of the question where no index scores it; the best is the
    /// greatest.
    fn rank(&self, document: &str) -> String {
        let template = query!(retrieve.text_rank);
        render(template, &[("document", document)])
    }

    fn candidates(&self, candidate: &str, template: &str, values: &[(&str, &str)]) -> String {
        let Search { parts, .. } = self.search;
        let pipeline = self.search.pipeline();
        let own = [
            ("view", &*pipeline.view.sql),
            ("vector", &parts.vector),
            ("filter", &self.filter.condition),
            ("words", &self.words(candidate)),
        ];
        render(template, &[&own, values].concat())
    }

    /// Chunks by their keys.
    pub fn passages(&self) -> String {
        let Search { columns, options, parts, .. } = self.search;
        let embedding = match options.compares_chunks() {
            true => query!(retrieve.embedding_elements),
            false => query!(retrieve.embedding_none),
        };
        render(
            query!(retrieve.passages),
            &[
                ("view", &self.chunks("$2")),
                ("vector", &parts.vector),
                ("source_key", &source_key(&columns.keys)),
                ("metadata", &json_object(&columns.metadata, ViewColumn::bare, metadata_value)),
                ("age", &parts.age),
                ("embedding", embedding),
            ],
        )
    }

    /// Words of chunks, and their vectors if they are wanted.
    pub fn feedback(&self, with_vectors: bool) -> String {
        let embedding = match with_vectors {
            true => query!(retrieve.embedding_elements),
            false => query!(retrieve.embedding_none),
        };
        render(query!(retrieve.feedback), &[("view", &self.chunks("$1")), ("embedding", embedding)])
    }

    /// The chunks around others.
    pub fn neighbours(&self) -> String {
        let same = |column: &ViewColumn| {
            let [one, other] = ["v", "h"].map(|relation| format!("{relation}.{}", column.name));
            let equal = Operators::of(column.type_oid).equal_to(&one, &other);
            render(query!(retrieve.same_key), &[("equal", &equal)])
        };
        let Search { columns, shards: searched, .. } = self.search;
        let mut own: Vec<String> = columns.keys.iter().map(same).collect();
        own.extend(self.has_shards().then(shards::same_shard));
        let documents = match (self.has_shards(), columns.keys.first()) {
            (true, Some(key)) => shards::documents(&self.shards, &searched.columns, key, "$1"),
            _ => self.search.pipeline().view.sql.clone(),
        };
        let values =
            [("hits", &*self.chunks("$1")), ("view", &documents), ("same_source", &own.concat())];
        render(query!(retrieve.neighbours), &values)
    }
}

/// The age in days by the column of `recency`.
fn age(recency: &Recency, metadata: &[ViewColumn]) -> Result<String> {
    let named = metadata.iter().find(|column| column.bare() == recency.column);
    let column = named.filter(|column| is_time(column)).ok_or_else(|| {
        let name = &recency.column;
        let (kind, message) = match named {
            Some(_) => (
                ErrorKind::WrongObjectType,
                format!("column \"{name}\" of recency is not a date or timestamp"),
            ),
            None => (
                ErrorKind::UndefinedObject,
                format!("recency names \"{name}\", which is no metadata column of the pipeline"),
            ),
        };
        let times = metadata.iter().filter(|column| is_time(column));
        let names: Vec<String> = times.map(ViewColumn::bare).collect();
        let hint = match names.as_slice() {
            [] => "The pipeline declares no metadata column of type date or timestamp.".to_owned(),
            _ => format!("Metadata columns of type date or timestamp: {}.", names.join(", ")),
        };
        Error::new(kind, message).hint(hint)
    })?;
    Ok(render(query!(retrieve.age), &[("column", &column.name)]))
}

fn is_time(column: &ViewColumn) -> bool {
    [pg_sys::DATEOID, pg_sys::TIMESTAMPOID, pg_sys::TIMESTAMPTZOID].contains(&column.type_oid)
}

/// A row of `passages` of retrieve.sql; its places and score come from the fusion.
pub fn hit(row: &SpiHeapTupleData<'_>) -> Result<Hit, pgrx::spi::Error> {
    let WrittenJsonb { text: written_metadata, value: metadata } = sql::required(row.get(9)?)?;
    let passage = Passage {
        rank: 0,
        score: 0.0,
        pipeline: String::new(),
        shard: None,
        chunk_id: sql::required(row.get(1)?)?,
        source_key: sql::required(row.get(2)?)?,
        chunk_no: sql::required(row.get(3)?)?,
        content: sql::required(row.get(4)?)?,
        start_char: sql::required(row.get(5)?)?,
        end_char: sql::required(row.get(6)?)?,
        lead: None,
        parts: Box::default(),
        heading: row.get::<String>(7)?.map(String::into_boxed_str),
        context: row.get::<String>(8)?.map(String::into_boxed_str),
        metadata,
        written_metadata: written_metadata.into(),
        similarity: row.get(10)?.map(or_unlike),
        lexical: None,
        dense_rank: None,
        lexical_rank: None,
        rerank_score: None,
        via: None,
    };
    let vector = row.get::<Vec<f32>>(12)?.unwrap_or_default();
    Ok(Hit { passage, age: row.get(11)?, vector })
}

/// A cosine as pgvector has it, which is no number where a vector has no direction: such a vector is like nothing, which
/// a threshold takes for 0.
pub fn or_unlike(cosine: f64) -> f64 {
    if cosine.is_finite() { cosine } else { 0.0 }
}

/// A row of `feedback` of retrieve.sql: a chunk's key, and what it says.
pub fn seen(row: &SpiHeapTupleData<'_>) -> Result<(i64, FeedbackChunk), pgrx::spi::Error> {
    let words = row.get::<Vec<String>>(2)?.unwrap_or_default();
    let counts = row.get::<Vec<i32>>(3)?.unwrap_or_default();
    let counts = counts.into_iter().map(|count| count.max(1) as u32);
    let vector = row.get::<Vec<f32>>(4)?.unwrap_or_default();
    let seen = FeedbackChunk { words: words.into_iter().zip(counts).collect(), vector };
    Ok((sql::required(row.get(1)?)?, seen))
}

/// A row of `neighbours` of retrieve.sql.
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
pub fn source_key(keys: &[ViewColumn]) -> String {
    match keys {
        [key] => format!("v.{}::pg_catalog.text", key.name),
        _ => format!("({})::pg_catalog.text", json_object(keys, ViewColumn::of_source, value)),
    }
}

fn value(column: &ViewColumn) -> String {
    format!("v.{}", column.name)
}

/// A value as JSON that can be read: text where it is a number beyond those of a program, or nested
/// deeper than a program follows. One such row must not make all searches that find it fail.
fn metadata_value(column: &ViewColumn) -> String {
    const HARMLESS: [pg_sys::Oid; 12] = [
        pg_sys::BOOLOID,
        pg_sys::INT2OID,
        pg_sys::INT4OID,
        pg_sys::INT8OID,
        pg_sys::FLOAT4OID,
        pg_sys::FLOAT8OID,
        pg_sys::TEXTOID,
        pg_sys::VARCHAROID,
        pg_sys::DATEOID,
        pg_sys::TIMESTAMPOID,
        pg_sys::TIMESTAMPTZOID,
        pg_sys::UUIDOID,
    ];
    if HARMLESS.contains(&column.type_oid) {
        return value(column);
    }
    let template = query!(retrieve.metadata_value);
    let most = [("digits", "{200}"), ("levels", "{100}"), ("column", &*column.name)];
    render(template, &most)
}

/// An expression that builds a JSON object of columns of `v`.
fn json_object(
    columns: &[ViewColumn],
    name: impl Fn(&ViewColumn) -> String,
    value: impl Fn(&ViewColumn) -> String,
) -> String {
    let pairs = columns.iter().map(|column| {
        let label = quote_literal(name(column));
        format!("{label}, {}", value(column))
    });
    format!("pg_catalog.jsonb_build_object({})", pairs.collect::<Vec<_>>().join(", "))
}
