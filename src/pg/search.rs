//! Retrieval through a pipeline's view: as the caller, so that a row the caller may not see
//! is not found, not counted and not cited.

use pgrx::JsonB;
use pgrx::spi::{SpiHeapTupleData, quote_literal};

use super::catalog::pipeline::{self, Pipeline};
use super::catalog::view::{Column, ContentColumns, content_columns};
use super::functions::Embedding;
use super::sql::{self, render};
use super::vector::Vector;
use crate::daemon::protocol::Lane;
use crate::embed::{Embedder, Kind};
use crate::error::{Error, Result};
use crate::retrieve::filter::{self, Comparison, Condition, Test};
use crate::retrieve::{Mode, Passage, RetrieveOptions};

/// Most chunks one call returns.
const MOST: i32 = 10_000;

/// What is searched, and how.
pub struct Search {
    /// Where.
    pub pipeline: Pipeline,
    columns: ContentColumns,
    k: i32,
    mode: Mode,
    filter: FilterSql,
    options: RetrieveOptions,
}

impl Search {
    /// Checks the arguments of `rag_retrieve` and its kin.
    pub fn new(
        pipeline: Option<&str>,
        k: Option<i32>,
        mode: Option<&str>,
        filter: Option<JsonB>,
        options: RetrieveOptions,
    ) -> Result<Self> {
        let k = k.unwrap_or(5);
        if !(1..=MOST).contains(&k) {
            return Err(Error::invalid(format!("k must be between 1 and {MOST}: {k}")));
        }
        check_options(&options)?;
        let mode = mode.unwrap_or("hybrid").parse()?;
        let pipeline = pipeline::resolve(pipeline)?;
        let columns = content_columns(&pipeline)?;
        let filter = FilterSql::new(filter, &columns.metadata)?;
        Ok(Search { pipeline, columns, k, mode, filter, options })
    }

    /// The passages for `query`, best first.
    pub fn run(&self, query: &str) -> Result<Vec<Passage>> {
        let words = self.words(query)?;
        // Without a single word to look for, the vectors must do alone.
        let template = match (self.mode, &words) {
            (Mode::Dense, _) | (Mode::Hybrid, None) => {
                include_str!("../../sql/query/retrieve_dense.sql")
            }
            (Mode::Lexical, None) => return Ok(Vec::new()),
            (Mode::Lexical, Some(_)) => include_str!("../../sql/query/retrieve_lexical.sql"),
            (Mode::Hybrid, Some(_)) => include_str!("../../sql/query/retrieve_hybrid.sql"),
        };
        let vector = match self.mode {
            Mode::Lexical => None,
            Mode::Dense | Mode::Hybrid => Some(self.embed(query)?),
        };
        let arguments = [
            vector.into(),
            words.into(),
            self.filter.values.clone().into(),
            i64::from(self.k).into(),
            self.options.threshold.into(),
            i64::from(self.options.candidates).max(self.k.into()).into(),
            (self.options.rrf_k as i32).into(),
        ];
        let mut passages = sql::rows(&self.render(template)?, &arguments, passage)?;
        for (rank, passage) in (1..).zip(&mut passages) {
            passage.rank = rank;
        }
        Ok(passages)
    }

    fn embed(&self, query: &str) -> Result<Vector> {
        let mut embedding = Embedding::with_model(Some(&self.pipeline.model), Lane::Query)?;
        let mut vectors = embedding.embed(&[query.to_owned()], Kind::Query)?;
        Ok(Vector(vectors.swap_remove(0)))
    }

    /// The query's words as a tsquery; `None` where it has none.
    fn words(&self, query: &str) -> Result<Option<String>> {
        let statement = include_str!("../../sql/query/tsquery.sql");
        let found =
            sql::rows(statement, &[self.pipeline.config.as_str().into(), query.into()], |row| {
                row.get::<String>(1)
            })?;
        Ok(found.into_iter().next().flatten())
    }

    fn render(&self, template: &str) -> Result<String> {
        Ok(render(
            template,
            &[
                ("view", &self.pipeline.view.sql),
                ("vector", &sql::vector_schema()?),
                ("filter", &self.filter.condition),
                ("source_key", &source_key(&self.columns.keys)),
                ("metadata", &json_object(&self.columns.metadata, |column| column.name.clone())),
            ],
        ))
    }
}

fn check_options(options: &RetrieveOptions) -> Result<()> {
    if let Some(threshold) = options.threshold.filter(|t| !(-1.0..=1.0).contains(t)) {
        return Err(Error::invalid(format!("threshold must be between -1 and 1: {threshold}"))
            .hint("It is the least cosine similarity between question and chunk."));
    }
    match options.candidates {
        1..=100_000 => Ok(()),
        count => Err(Error::invalid(format!("candidates must be between 1 and 100000: {count}"))),
    }
}

fn passage(row: &SpiHeapTupleData<'_>) -> Result<Passage, pgrx::spi::Error> {
    Ok(Passage {
        rank: 0,
        score: sql::required(row.get(1)?)?,
        source_key: sql::required(row.get(2)?)?,
        chunk_id: sql::required(row.get(3)?)?,
        chunk_no: sql::required(row.get(4)?)?,
        content: sql::required(row.get(5)?)?,
        start_char: sql::required(row.get(6)?)?,
        end_char: sql::required(row.get(7)?)?,
        heading: row.get(8)?,
        metadata: sql::required(row.get::<JsonB>(9)?)?.0,
        similarity: row.get(10)?,
        dense_rank: row.get(11)?,
        lexical_rank: row.get(12)?,
    })
}

/// The key as text; of a composite key, a JSON object under the source's column names.
fn source_key(keys: &[Column]) -> String {
    match keys {
        [key] => format!("v.{}::text", key.name),
        _ => {
            let name = |column: &Column| bare(column).trim_start_matches("source_").to_owned();
            format!("({})::text", json_object(keys, name))
        }
    }
}

/// An expression that builds a JSON object of columns of `v`.
fn json_object(columns: &[Column], name: impl Fn(&Column) -> String) -> String {
    let pairs = columns.iter().map(|column| {
        let label = quote_literal(unquoted(&name(column)));
        format!("{label}, v.{}", column.name)
    });
    format!("pg_catalog.jsonb_build_object({})", pairs.collect::<Vec<_>>().join(", "))
}

fn bare(column: &Column) -> String {
    unquoted(&column.name)
}

/// An identifier as it is without its quotes.
fn unquoted(identifier: &str) -> String {
    match identifier.strip_prefix('"').and_then(|rest| rest.strip_suffix('"')) {
        Some(inner) => inner.replace("\"\"", "\""),
        None => identifier.to_owned(),
    }
}

/// A metadata filter as a condition over `v`, and the values it binds as `$3`.
struct FilterSql {
    condition: String,
    values: Vec<String>,
}

impl FilterSql {
    fn new(filter: Option<JsonB>, metadata: &[Column]) -> Result<Self> {
        let names: Vec<String> = metadata.iter().map(bare).collect();
        let names: Vec<&str> = names.iter().map(String::as_str).collect();
        let conditions = match filter {
            Some(JsonB(filter)) => filter::parse(&filter, &names)?,
            None => Vec::new(),
        };
        let mut sql = FilterSql { condition: String::new(), values: Vec::new() };
        let parts: Vec<String> =
            conditions.iter().map(|condition| sql.part(condition, metadata)).collect();
        sql.condition = match parts.as_slice() {
            [] => include_str!("../../sql/query/filter_none.sql").to_owned(),
            _ => parts.join(" AND "),
        };
        Ok(sql)
    }

    fn part(&mut self, condition: &Condition, metadata: &[Column]) -> String {
        let Column { name, sql_type, .. } = &metadata[condition.column];
        let first = self.values.len() + 1;
        let template = match &condition.test {
            Test::Null => include_str!("../../sql/query/filter_null.sql"),
            Test::NotNull => include_str!("../../sql/query/filter_not_null.sql"),
            Test::OneOf { values, or_null } => {
                self.values.extend_from_slice(values);
                match or_null {
                    true => include_str!("../../sql/query/filter_one_of_or_null.sql"),
                    false => include_str!("../../sql/query/filter_one_of.sql"),
                }
            }
            Test::Compare(comparison, value) => {
                self.values.push(value.clone());
                comparison_template(*comparison)
            }
        };
        render(
            template,
            &[
                ("column", name),
                ("type", sql_type),
                ("n", &first.to_string()),
                ("first", &first.to_string()),
                ("last", &self.values.len().to_string()),
            ],
        )
    }
}

fn comparison_template(comparison: Comparison) -> &'static str {
    match comparison {
        Comparison::Equal => include_str!("../../sql/query/filter_equal.sql"),
        Comparison::NotEqual => include_str!("../../sql/query/filter_not_equal.sql"),
        Comparison::Less => include_str!("../../sql/query/filter_less.sql"),
        Comparison::LessOrEqual => include_str!("../../sql/query/filter_less_or_equal.sql"),
        Comparison::Greater => include_str!("../../sql/query/filter_greater.sql"),
        Comparison::GreaterOrEqual => include_str!("../../sql/query/filter_greater_or_equal.sql"),
    }
}
