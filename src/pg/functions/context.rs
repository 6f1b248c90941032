//! `rag_context`.

use pgrx::prelude::*;

use crate::context::Reading;
use crate::error::Result;
use crate::pg::question::request::QuestionRequest;
use crate::pg::server::error::OrReport;
use crate::pg::server::json::{ExactJsonb, JsonbText};
use crate::request::QuestionArguments;

type ContextRow = (
    i32,
    Option<String>,
    Option<i64>,
    Option<i32>,
    String,
    i32,
    Option<f64>,
    bool,
    Option<String>,
    Option<JsonbText>,
    Option<String>,
);

#[pg_extern(sql = false)]
#[allow(clippy::too_many_arguments, clippy::type_complexity)]
fn rag_context(
    question: Option<&str>,
    pipeline: Option<&str>,
    k: Option<i32>,
    mode: Option<&str>,
    filter: Option<ExactJsonb>,
    llm: Option<&str>,
    options: Option<ExactJsonb>,
) -> TableIterator<
    'static,
    (
        name!(number, i32),
        name!(source_key, Option<String>),
        name!(chunk_id, Option<i64>),
        name!(chunk_no, Option<i32>),
        name!(content, String),
        name!(tokens, i32),
        name!(score, Option<f64>),
        name!(is_excerpt, bool),
        name!(heading, Option<String>),
        name!(metadata, Option<JsonbText>),
        name!(pipeline, Option<String>),
    ),
> {
    let filter = filter.map(|ExactJsonb(filter)| filter);
    let arguments = QuestionArguments { k, mode, filter, llm, ..QuestionArguments::default() };
    let request = QuestionRequest { pipeline, arguments, options, conditions: None };
    TableIterator::new(rows(request, question).or_report())
}

fn rows(request: QuestionRequest<'_>, question: Option<&str>) -> Result<Vec<ContextRow>> {
    let (readings, sizes) = request.context(question)?;
    let overview = readings.first().and_then(|first| first.overview.clone());
    let mut rows: Vec<ContextRow> = Vec::with_capacity(readings.len() + 1);
    let tokens = |at: usize| sizes.get(at).map_or(0, |size| *size as i32);
    rows.extend(overview.map(|content| overview_row(content, tokens(readings.len()))));
    let numbered = readings.into_iter().enumerate();
    rows.extend(numbered.map(|(at, reading)| row(at as i32 + 1, reading, tokens(at))));
    Ok(rows)
}

fn overview_row(content: String, tokens: i32) -> ContextRow {
    (0, None, None, None, content, tokens, None, false, None, None, None)
}

fn row(number: i32, reading: Reading, tokens: i32) -> ContextRow {
    let Reading { source, shown, .. } = reading;
    let is_excerpt = shown != source.content();
    let chunk = source.chunk();
    (
        number,
        source.property("source_key"),
        chunk.map(|it| it.chunk_id),
        chunk.map(|it| it.chunk_no),
        shown,
        tokens,
        chunk.map(|it| it.score),
        is_excerpt,
        source.heading().map(str::to_owned),
        chunk.map(|it| JsonbText(it.written_metadata.to_string())),
        chunk.map(|it| it.pipeline.clone()),
    )
}
