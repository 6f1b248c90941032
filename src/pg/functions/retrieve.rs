//! `rag_retrieve`, `rag_retrieve_batch`.

use pgrx::prelude::*;

use crate::pg::question::request::QuestionRequest;
use crate::pg::server::error::OrReport;
use crate::pg::server::json::{ExactJsonb, JsonbText};
use crate::pg::server::vector::Vector;
use crate::request::QuestionArguments;
use crate::retrieve::Passage;

type RetrieveRow = (
    i32,
    f64,
    String,
    i64,
    i32,
    String,
    i32,
    i32,
    Option<String>,
    JsonbText,
    Option<i32>,
    Option<i32>,
    Option<f64>,
    String,
    Option<Vec<String>>,
);

#[rustfmt::skip]
type NumberedRow = (i32, i32, f64, String, i64, i32, String, i32, i32, Option<String>, JsonbText, Option<i32>, Option<i32>, Option<f64>, String, Option<Vec<String>>);

#[pg_extern(sql = false)]
#[allow(clippy::too_many_arguments, clippy::type_complexity)]
fn rag_retrieve(
    question: Option<&str>,
    pipeline: Option<&str>,
    k: Option<i32>,
    mode: Option<&str>,
    filter: Option<ExactJsonb>,
    rewrite: Option<&str>,
    rerank: Option<&str>,
    options: Option<ExactJsonb>,
    query_vector: Option<Vector>,
) -> TableIterator<
    'static,
    (
        name!(rank, i32),
        name!(score, f64),
        name!(source_key, String),
        name!(chunk_id, i64),
        name!(chunk_no, i32),
        name!(content, String),
        name!(start_char, i32),
        name!(end_char, i32),
        name!(heading, Option<String>),
        name!(metadata, JsonbText),
        name!(dense_rank, Option<i32>),
        name!(lexical_rank, Option<i32>),
        name!(rerank_score, Option<f64>),
        name!(pipeline, String),
        name!(via, Option<Vec<String>>),
    ),
> {
    let filter = filter.map(|ExactJsonb(filter)| filter);
    let arguments =
        QuestionArguments { k, mode, filter, rewrite, rerank, ..QuestionArguments::default() };
    let request = QuestionRequest { pipeline, arguments, options, conditions: None };
    let passages = request.retrieve(question, query_vector.as_ref()).or_report();
    TableIterator::new(passages.into_iter().map(row))
}

fn row(passage: Passage) -> RetrieveRow {
    (
        passage.rank,
        passage.score,
        passage.source_key,
        passage.chunk_id,
        passage.chunk_no,
        passage.content,
        passage.start_char,
        passage.end_char,
        passage.heading.map(String::from),
        JsonbText(passage.written_metadata.into()),
        passage.dense_rank,
        passage.lexical_rank,
        passage.rerank_score,
        passage.pipeline,
        passage.via.map(Vec::from),
    )
}

#[pg_extern(sql = false)]
#[allow(clippy::too_many_arguments, clippy::type_complexity)]
fn rag_retrieve_batch(
    questions: Option<Vec<Option<String>>>,
    pipeline: Option<&str>,
    k: Option<i32>,
    mode: Option<&str>,
    filter: Option<ExactJsonb>,
    rewrite: Option<&str>,
    rerank: Option<&str>,
    options: Option<ExactJsonb>,
) -> TableIterator<
    'static,
    (
        name!(question_no, i32),
        name!(rank, i32),
        name!(score, f64),
        name!(source_key, String),
        name!(chunk_id, i64),
        name!(chunk_no, i32),
        name!(content, String),
        name!(start_char, i32),
        name!(end_char, i32),
        name!(heading, Option<String>),
        name!(metadata, JsonbText),
        name!(dense_rank, Option<i32>),
        name!(lexical_rank, Option<i32>),
        name!(rerank_score, Option<f64>),
        name!(pipeline, String),
        name!(via, Option<Vec<String>>),
    ),
> {
    let filter = filter.map(|ExactJsonb(filter)| filter);
    let arguments =
        QuestionArguments { k, mode, filter, rewrite, rerank, ..QuestionArguments::default() };
    let request = QuestionRequest { pipeline, arguments, options, conditions: None };
    let found = request.retrieve_each(questions.unwrap_or_default()).or_report();
    TableIterator::new(found.map(|it| numbered(it.or_report())))
}

#[rustfmt::skip]
fn numbered((question_no, passage): (i32, Passage)) -> NumberedRow {
    let (rank, score, source_key, chunk_id, chunk_no, content, start_char, end_char, heading, metadata, dense_rank, lexical_rank, rerank_score, pipeline, via) = row(passage);
    (question_no, rank, score, source_key, chunk_id, chunk_no, content, start_char, end_char, heading, metadata, dense_rank, lexical_rank, rerank_score, pipeline, via)
}
