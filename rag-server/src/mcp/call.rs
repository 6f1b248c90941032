//! The tools, each a few calls of pg_rag.

use std::collections::HashSet;

use rmcp::model::JsonObject;
use serde::Deserialize;
use serde::de::DeserializeOwned;
use serde_json::Value;
use tokio_postgres::types::Type;

use super::address::Address;
use super::arguments::read_filter;
use super::compact::{Compact, DEFAULT_TOKENS, MOST_TOKENS, cost, cut, one_line};
use crate::database::Lease;
use crate::document::{self, Document, Stretch};
use crate::failure::Failure;
use crate::members::AsWritten;
use crate::pipelines;
use crate::question::{self, History, Question};

/// Strategies of answers that run statements which a language model writes, or functions that it chooses.
const OF_SQL: [&str; 3] = ["sql", "combined", "agent"];

/// Runs a tool and returns its result as text. `offers_sql` says whether a language model may have SQL run.
pub async fn call(
    lease: &mut Lease,
    name: &str,
    arguments: JsonObject,
    offers_sql: bool,
) -> Result<String, Failure> {
    match name {
        "list_sources" => list_sources(lease, read_arguments(arguments)?).await,
        "search" => search(lease, read_arguments(arguments)?).await,
        "open" => open(lease, read_arguments(arguments)?).await,
        "ask" => {
            let arguments = read_arguments::<Ask>(arguments)?;
            check_strategy(arguments.strategy.as_deref(), offers_sql)?;
            ask(lease, arguments).await
        }
        "schema" => schema(lease, read_arguments(arguments)?).await,
        "sql" => sql(lease, read_arguments(arguments)?).await,
        _ => Err(Failure::request(format!("there is no tool {name:?}"))),
    }
}

/// Reads a resource: a document, or a description of a pipeline.
pub async fn read(lease: &mut Lease, uri: &str) -> Result<String, Failure> {
    match Address::parse(uri)? {
        Address::Document(pipeline, key) => {
            let document = document::open(lease, &pipeline, &key, stretch(0, MOST_TOKENS)).await?;
            Ok(told(&document, 0, MOST_TOKENS))
        }
        Address::Pipeline(name) => {
            let all = pipelines::list(lease).await?;
            let Some(found) = all.into_iter().find(|pipeline| pipeline.name == name) else {
                let message = format!("there is no pipeline {name:?} that the role sees");
                let status = axum::http::StatusCode::NOT_FOUND;
                return Err(Failure::new(status, "not_found", message));
            };
            Ok(describe(&found))
        }
    }
}

fn describe(pipeline: &pipelines::Pipeline) -> String {
    format!(
        "pipeline: {}\ntable: {}\nabout: {}\nembedding model: {}\nfilters: {}",
        pipeline.name,
        pipeline.source,
        pipeline.description.as_deref().unwrap_or("-"),
        pipeline.model,
        pipeline.filters.join(", ")
    )
}

fn read_arguments<T: DeserializeOwned>(arguments: JsonObject) -> Result<T, Failure> {
    serde_json::from_value(Value::Object(arguments))
        .map_err(|error| Failure::request(format!("the arguments cannot be read: {error}")))
}

/// The tokens that a call may have.
fn room(said: Option<usize>) -> usize {
    said.unwrap_or(DEFAULT_TOKENS).clamp(50, MOST_TOKENS)
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct ListSources {
    max_tokens: Option<usize>,
}

async fn list_sources(lease: &mut Lease, arguments: ListSources) -> Result<String, Failure> {
    let mut result = Compact::new(room(arguments.max_tokens));
    result.line("pipeline\ttable\tfilters\tabout");
    for pipeline in pipelines::list(lease).await? {
        let about = pipeline.description.unwrap_or_default();
        result.row(&[&pipeline.name, &pipeline.source, &pipeline.filters.join(", "), &about]);
    }
    Ok(result.finish("ask for more max_tokens"))
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Search {
    query: String,
    pipeline: Option<String>,
    k: Option<i32>,
    mode: Option<String>,
    #[serde(default, deserialize_with = "read_filter")]
    filter: Option<AsWritten>,
    max_tokens: Option<usize>,
}

async fn search(lease: &mut Lease, arguments: Search) -> Result<String, Failure> {
    let Search { query, pipeline, k, mode, filter, max_tokens } = arguments;
    let rows = lease
        .rows(
            include_str!("../../sql/retrieve.sql"),
            &[
                (&query, Type::TEXT),
                (&pipeline, Type::TEXT),
                (&k, Type::INT4),
                (&mode, Type::TEXT),
                (&filter, Type::JSONB),
            ],
        )
        .await?;
    let mut result = Compact::new(room(max_tokens));
    result.line("uri\tstart_char\theading\ttext");
    for row in rows {
        let uri = Address::Document(row.get(2), row.get(3)).to_string();
        let start: i32 = row.get(4);
        let heading: Option<String> = row.get(6);
        result.row(&[&uri, &start.to_string(), heading.as_deref().unwrap_or_default(), row.get(7)]);
    }
    Ok(result.finish("ask for a smaller k or more max_tokens, or open a uri"))
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Open {
    uri: String,
    #[serde(default)]
    start_char: i32,
    max_tokens: Option<usize>,
}

async fn open(lease: &mut Lease, arguments: Open) -> Result<String, Failure> {
    let Address::Document(pipeline, key) = Address::parse(&arguments.uri)? else {
        let whole = Failure::request("this is a whole pipeline");
        return Err(whole.hint("search it, or open a document: rag://pipeline/key"));
    };
    let start = arguments.start_char;
    if start < 0 {
        return Err(Failure::request(format!("start_char must be 0 or more, not {start}")));
    }
    let most = room(arguments.max_tokens);
    let document = document::open(lease, &pipeline, &key, stretch(start, most)).await?;
    Ok(told(&document, start, most))
}

/// As much of a document as is read for a result with so many tokens, of which each is four bytes at most; twice that, since
/// chunks repeat words of each other.
fn stretch(start: i32, most: usize) -> Stretch {
    Stretch { start, most_bytes: i64::try_from(8 * most).unwrap_or(i64::MAX) }
}

/// The text of a document from a character on, and where to go on where it does not fit.
fn told(document: &Document, start: i32, most: usize) -> String {
    let mut text = String::new();
    let mut left = most;
    for part in document.parts.iter().filter(|part| part.end > start) {
        let skipped = usize::try_from(start.saturating_sub(part.start)).unwrap_or_default();
        let rest = part.text.char_indices().nth(skipped).map_or("", |(at, _)| &part.text[at..]);
        if !text.is_empty() {
            text.push('\n');
        }
        let (fits, is_all) = cut(rest, left);
        text.push_str(fits);
        if !is_all {
            let told = i32::try_from(skipped + fits.chars().count()).unwrap_or(i32::MAX);
            return go_on(&text, part.start.saturating_add(told));
        }
        left = left.saturating_sub(super::compact::tokens(fits));
    }
    match document.parts.last() {
        Some(last) if document.truncated => go_on(&text, last.end),
        _ => text + "\ntruncated: false",
    }
}

fn go_on(text: &str, next: i32) -> String {
    format!("{text}\ntruncated: true (go on with start_char {next})")
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Ask {
    question: String,
    pipeline: Option<String>,
    k: Option<i32>,
    strategy: Option<String>,
    #[serde(default, deserialize_with = "read_filter")]
    filter: Option<AsWritten>,
    max_tokens: Option<usize>,
}

/// Refuses a strategy that would bring SQL in by another tool.
fn check_strategy(strategy: Option<&str>, offers_sql: bool) -> Result<(), Failure> {
    match strategy {
        Some(strategy) if !offers_sql && OF_SQL.contains(&strategy) => {
            let message = format!("the strategy {strategy:?} is not offered by this server");
            let status = axum::http::StatusCode::FORBIDDEN;
            let failure = Failure::new(status, "not_permitted", message);
            Err(failure.hint("leave the strategy out; rag-server offers it with --sql"))
        }
        _ => Ok(()),
    }
}

async fn ask(lease: &mut Lease, arguments: Ask) -> Result<String, Failure> {
    let Ask { question, pipeline, k, strategy, filter, max_tokens } = arguments;
    let question = Question { question, pipeline, k, strategy, filter, ..Question::default() };
    let details = question::answer(lease, question, &History::default()).await?;
    Ok(answered(&details, room(max_tokens)))
}

/// An answer, what is to be thought of it, and its sources. Where there is little room, the answer and quotes are cut,
/// so that the rest stays.
fn answered(details: &Value, most: usize) -> String {
    let verdict = format!(
        "supported: {}\tconfidence: {:.2}\tneeds_review: {}",
        details["supported"],
        details["confidence"].as_f64().unwrap_or_default(),
        details["needs_review"]
    );
    let sources: Vec<(String, String)> =
        details["citations"].as_array().into_iter().flatten().filter_map(source).collect();
    // A quote of which nothing fits is still a mark.
    let least = |place: &str| cost(place) + 1;
    let mut behind = sources.iter().map(|(place, _)| least(place)).sum::<usize>();
    let mut result = Compact::new(most);
    let answer = details["answer"].as_str().unwrap_or_default().trim_end();
    if !answer.is_empty() {
        // Half of the room is the answer's, however many sources there are.
        result.keep("", answer, (cost(&verdict) + behind).min(most / 2));
    }
    result.keep(&verdict, "", 0);
    for (place, quote) in &sources {
        behind -= least(place);
        result.keep(place, quote, behind);
    }
    result.finish("ask for more max_tokens")
}

/// Where a citation points, and its quote; nothing for a marker of no source.
fn source(citation: &Value) -> Option<(String, String)> {
    if citation["unresolved"] == true {
        return None;
    }
    let word = |name: &str| citation[name].as_str().unwrap_or_default();
    let place = match word("relation") {
        "" => {
            let document =
                Address::Document(word("pipeline").to_owned(), word("source_key").to_owned());
            format!("{document}\tstart_char {}", citation["start_char"])
        }
        // A row of a query, or what a function returned: no document that could be opened.
        relation => format!("{}\t{}", one_line(relation), one_line(word("key"))),
    };
    Some((format!("[{}]\t{place}\t", citation["marker"]), one_line(word("quote"))))
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Schema {
    tables: Option<Vec<String>>,
    max_tokens: Option<usize>,
}

async fn schema(lease: &mut Lease, arguments: Schema) -> Result<String, Failure> {
    let sql = include_str!("../../sql/schema.sql");
    let rows = lease.rows(sql, &[(&arguments.tables, Type::TEXT_ARRAY)]).await?;
    let mut result = Compact::new(room(arguments.max_tokens));
    let found: HashSet<String> = rows.iter().flat_map(|row| row.get::<_, Vec<String>>(3)).collect();
    let tables = arguments.tables.iter().flatten();
    let missing: Vec<&str> =
        tables.filter(|table| !found.contains(*table)).map(String::as_str).collect();
    if !missing.is_empty() {
        result.row(&[&format!("not found, or not readable: {}", missing.join(", "))]);
    }
    for row in rows {
        let (relation, about): (String, Option<String>) = (row.get(0), row.get(1));
        let about = about.map(|about| format!(" -- {about}")).unwrap_or_default();
        let columns: String = row.get(2);
        result.lines(&format!("{relation}{about}\n  {}", columns.replace('\n', "\n  ")));
    }
    Ok(result.finish("name the tables that you need, or ask for more max_tokens"))
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Sql {
    query: String,
    max_rows: Option<i32>,
    max_tokens: Option<usize>,
}

async fn sql(lease: &mut Lease, arguments: Sql) -> Result<String, Failure> {
    let Sql { query, max_rows, max_tokens } = arguments;
    let max_rows = max_rows.unwrap_or(50);
    let sql = include_str!("../../sql/run.sql");
    let rows = lease.rows(sql, &[(&query, Type::TEXT), (&max_rows, Type::INT4)]).await?;
    let mut result = Compact::new(room(max_tokens));
    let mut is_cut = false;
    for (number, row) in rows.iter().enumerate() {
        is_cut |= row.get::<_, bool>(2);
        // A row without columns has neither.
        let names: Option<Vec<&str>> = row.get(0);
        let fields: Option<Vec<Option<&str>>> = row.get(1);
        if number == 0 {
            result.row(&names.unwrap_or_default());
        }
        let fields = fields.unwrap_or_default().into_iter().map(Option::unwrap_or_default);
        result.row(&fields.collect::<Vec<_>>());
    }
    if is_cut {
        result.leave_out();
    }
    Ok(result.finish("have the query count or limit, or ask for more max_rows"))
}

#[cfg(test)]
#[path = "call_tests.rs"]
mod tests;
